// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "このコメントに賛成する",
  voteAgainst: "このコメントに反対する",
  reactToPage: "このページをどう思いますか？",
  addReaction: "リアクションを追加",
  signInToMark: "ログインして投票・リアクションする",
  waitsOffline: "接続がありません。つながりしだい、選んだ内容を送信します。",
  tooManyMarks: "ここで許されている速さを超えています。少しお待ちください。",
  own_comment: "自分のコメントには投票できません。",
  not_enabled: "ここではこの機能は無効です。",
  unknown_reaction: "このリアクションはもうありません。ページを再読み込みしてください。",
  too_many_reactions: "これ以上リアクションできません。先にどれかを取り消してください。",
};
