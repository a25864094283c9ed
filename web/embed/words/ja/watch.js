// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "通知する内容",
  watch_normal: "返信とメンション",
  watch_watching: "すべてのコメント",
  watch_muted: "メンションのみ",
  watchSaved: "保存しました。",
  too_many_watches: "ウォッチまたはミュートしているディスカッションがすでに1,000件あります。",
  too_fast: "操作が速すぎます。少しお待ちください。",
};
