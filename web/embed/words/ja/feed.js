// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.other": "新しい投稿 {n} 件",
  news: "ニュース",
  wall: "投稿",
  wallOf: "{name} さんの投稿",
  incoming: "あなた宛て",
  activity: "アクティビティ",
  limited: "サークル限定",
  signInFeed: "ログインしてニュースを読む",
  nothing: "まだ何も投稿されていません。",
  photo: "{name} さんの写真",
  at: "場所：{place}",
  unknown_post: "この投稿はもうないか、あなたには公開されていません。",
  unknown_user: "この名前の人はいません。",
};
