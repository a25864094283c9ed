// @ts-check
// Not yet read by a native speaker.
export default {
  post: "发布",
  save: "保存",
  cancel: "取消",
  preview: "预览",
  left: "还可输入{count}个字符",
  over: "超出{count}个字符",
  edit: "编辑",
  delete: "删除",
  replyTo: "回复 {name}",
  posted: "已发布。",
  too_fast: "你发言的速度超过了这里的限制。请稍等。",
  body_too_large: "此文字太长。",
  invalid_request: "此文字不能这样发布。",
  invalid_json: "此文字不能这样发布。",
  unsupported_media_type: "此文字不能这样发布。",
  request_in_progress: "你的文字正在发布。请稍等。",
  idempotency_key_reused: "另一段文字已经发布。请修改你的文字后重试。",
  sending: "发送中…",
  canSend: "现在可以发送了。",
  kept: "你的文字保留在这里。",
};
