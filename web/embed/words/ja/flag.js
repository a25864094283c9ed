// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "モデレーターに見てもらう理由",
  flag_spam: "スパムまたは広告",
  flag_abuse: "侮辱または脅迫",
  flag_off_topic: "話題から外れている",
  flag_personal_data: "個人情報",
  flag_other: "その他",
  flagNote: "モデレーターへのメモ(任意)",
  flagSend: "報告を送る",
  flagBack: "報告を取り消す",
  reported: "報告済み",
  flagged: "ありがとうございます。モデレーターが確認します。",
  flagWithdrawn: "報告を取り消しました。",
  own_comment: "自分のコメントは報告できません。",
};
