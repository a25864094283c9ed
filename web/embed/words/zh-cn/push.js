// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "此浏览器中的通知",
  push_on: "没有打开页面时，通知也会发送到此浏览器。",
  push_off_here: "只有页面打开时，通知才会到达此浏览器。",
  push_denied: "你已屏蔽此页面的通知。请先在浏览器设置中允许。",
  push_unsupported: "此浏览器不显示网页通知。",
  pushSwitchOn: "开启",
  pushSwitchOff: "关闭",
  pushBack: "返回",
  pushFailed: "浏览器拒绝了：{reason}",
  push_off: "此处不发送推送消息。",
  unknown_push_service: "Plaza 不向此浏览器的推送服务发送消息。",
};
