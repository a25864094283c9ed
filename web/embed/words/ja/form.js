// @ts-check
// Not yet read by a native speaker.
export default {
  post: "投稿",
  save: "保存",
  cancel: "キャンセル",
  preview: "プレビュー",
  left: "残り{count}文字",
  over: "{count}文字超過",
  edit: "編集",
  delete: "削除",
  replyTo: "{name}さんへの返信",
  posted: "投稿しました。",
  too_fast: "投稿の間隔が短すぎます。しばらくお待ちください。",
  body_too_large: "この文章は長すぎます。",
  invalid_request: "この文章はこのままでは投稿できません。",
  invalid_json: "この文章はこのままでは投稿できません。",
  unsupported_media_type: "この文章はこのままでは投稿できません。",
  request_in_progress: "文章を投稿しています。しばらくお待ちください。",
  idempotency_key_reused: "別の文章がすでに投稿されています。内容を変更してもう一度お試しください。",
  sending: "送信中…",
  canSend: "送信できるようになりました。",
  kept: "入力した文章はここに残っています。",
};
