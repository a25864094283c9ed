// @ts-check
// Not yet read by a native speaker.
export default {
  "count.other": "コメント{n}件",
  edited: "編集済み",
  more: "もっと見る",
  retry: "再試行",
  failed: "うまくいきませんでした:{reason}",
  offline: "Plazaに接続できません。",
  unavailable: "Plazaは現在利用できません。しばらくしてからもう一度お試しください。",
  internal: "Plazaで問題が発生しました。しばらくしてからもう一度お試しください。",
  bad_id: "このページの設定に誤りがあります。「{id}」は ID ではありません。",
  sign_in_failed: "現在、ログインを確認できません。",
  unauthenticated: "ログインの有効期限が切れました。もう一度ログインしてください。入力した文章は残っています。",
  forbidden: "この操作は許可されていません。",
  unknown_comment: "このコメントはもうありません。",
  gone: "このコメントは削除されました。",
  confirm: "このコメントを削除しますか?",
  edit_window_over: "このコメントはもう変更できません。",
  invalid_cursor: "一覧が変更されました。ページを再読み込みしてください。",
};
