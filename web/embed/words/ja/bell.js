// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.other": "通知:新着{n}件",
  notifications: "通知",
  unseenMost: "通知:新着99件以上",
  unread: "未読",
  reply: "{name}さんが返信しました",
  mention: "{name}さんがあなたをメンションしました",
  watched: "ウォッチ中のディスカッションへの新しいコメント：{name}",
  follow: "新しいフォロワー：{name}",
  comment: "あなたの投稿へのコメント：{name}",
  reaction: "あなたの投稿へのリアクション：{name}",
  wall: "あなたのウォールへの投稿：{name}",
  paid: "ご注文の支払いが完了しました",
  shipped: "ご注文の商品を発送しました",
  cancelled: "ご注文は支払いがないまま終了しました",
  refunded: "ご注文の代金を返金します",
  published: "あなたのページが公開されました",
  readAll: "すべて既読にする",
  byMail: "メール",
  noneYet: "まだ何もありません。あなたのコメントへの返信や、あなたへのメンションがここに表示されます。",
  too_fast: "操作が速すぎます。少しお待ちください。",
};
