// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "你的名字",
  guestEmail: "你的电子邮箱",
  guestGoesOn: "继续",
  guestBack: "返回",
  guestMailed: "邮件已发往 {email}。打开其中的链接后，你的评论就会显示。",
  guestSignIn: "我以前在这里写过",
  guestSent: "如果这里认识这个地址，邮件已发往 {email}。其中的链接会带你回到本页。",
  guestIsYou: "以 {name} 的名字发表？",
  guestYes: "是",
  guestNo: "否",
  unknown_link: "这个链接已被使用或已过期。",
  guestUnreachable: "无法向这个地址发送邮件。请换一个。",
  mail_off: "本站目前不发送邮件。",
  name_taken: "这里已有人使用这个名字。请换一个。",
  guests_off: "本站不再允许无账号发表评论。",
  invalid_request: "这个名字不能使用。请换一个。",
};
