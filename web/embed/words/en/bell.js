// @ts-check
// What a bell and its notifications say in English.
export default {
  "unseen.one": "Notifications: {n} new",
  "unseen.other": "Notifications: {n} new",
  notifications: "Notifications",
  unseenMost: "Notifications: more than 99 new",
  unread: "unread",
  reply: "{name} replied to you",
  mention: "{name} mentioned you",
  watched: "New comments in a discussion you watch: {name}",
  follow: "New followers: {name}",
  comment: "Comments on your post: {name}",
  reaction: "Reactions to your post: {name}",
  wall: "A post on your wall: {name}",
  paid: "Your order is paid",
  shipped: "Your order is on its way",
  cancelled: "Your order ended without a payment",
  refunded: "Money for your order is on its way back",
  readAll: "Mark all as read",
  byMail: "By e-mail",
  noneYet: "Nothing yet: replies to your comments and comments that mention you are listed here.",
  too_fast: "That was faster than is allowed here. Wait a moment.",
};
