// @ts-check
// Not yet read by a native speaker.
export default {
  "count.other": "{n} 条评论",
  edited: "已编辑",
  more: "显示更多",
  retry: "重试",
  failed: "操作失败:{reason}",
  offline: "无法连接 Plaza。",
  unavailable: "Plaza 暂时不可用。请稍后再试。",
  internal: "Plaza 出了问题。请稍后再试。",
  bad_id: "此页面设置有误：“{id}”不是有效的 ID。",
  sign_in_failed: "现在无法确认你的登录状态。",
  unauthenticated: "你的登录已过期。请重新登录;你的文字已保留。",
  forbidden: "你不能这样做。",
  unknown_comment: "此评论已不存在。",
  gone: "此评论已删除。",
  confirm: "删除这条评论吗?",
  edit_window_over: "此评论已不能再修改。",
  invalid_cursor: "列表已更改。请重新加载页面。",
};
