// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.other": "通知:{n} 条新通知",
  notifications: "通知",
  unseenMost: "通知:超过 99 条新通知",
  unread: "未读",
  reply: "{name} 回复了你",
  mention: "{name} 提到了你",
  watched: "你关注的讨论有新评论：{name}",
  follow: "新的关注者：{name}",
  comment: "你的帖子收到评论：{name}",
  reaction: "你的帖子收到回应：{name}",
  wall: "你的留言墙上的帖子：{name}",
  paid: "你的订单已付款",
  shipped: "你的订单已发货",
  cancelled: "你的订单未付款，已结束",
  refunded: "你的订单有退款",
  published: "你的页面已发布",
  readAll: "全部标为已读",
  byMail: "邮件通知",
  noneYet: "还没有通知:对你评论的回复和提到你的评论会显示在这里。",
  too_fast: "操作太快了，请稍候。",
};
