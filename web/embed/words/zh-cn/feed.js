// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.other": "{n} 条新动态",
  news: "动态",
  wall: "帖子",
  wallOf: "{name}的帖子",
  incoming: "给你的",
  activity: "活动",
  limited: "仅限圈子",
  signInFeed: "登录后查看动态",
  nothing: "这里还没有内容。",
  photo: "{name}的图片",
  at: "地点：{place}",
  unknown_post: "这条动态已不存在，或者你无权查看。",
  unknown_user: "这里没有叫这个名字的人。",
};
