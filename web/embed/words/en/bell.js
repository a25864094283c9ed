// @ts-check
// What a bell and its notifications say in English.
export default {
  "unseen.one": "Notifications: {n} new",
  "unseen.other": "Notifications: {n} new",
  notifications: "Notifications",
  unseenMost: "Notifications: more than 99 new",
  unread: "unread",
  replied: "{name} replied to you",
  mentioned: "{name} mentioned you",
  readAll: "Mark all as read",
  byMail: "By e-mail",
  noneYet: "Nothing yet: replies to your comments and comments that mention you are listed here.",
  too_fast: "That was faster than is allowed here. Wait a moment.",
};
