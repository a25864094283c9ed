// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "无需账号发表评论",
  guestName: "你的名字",
  guestGoesOn: "继续",
  guestBack: "返回",
  name_taken: "这里已有人使用这个名字。请换一个。",
  guests_off: "本站不再允许无账号发表评论。",
  invalid_request: "这个名字不能使用。请换一个。",
};
