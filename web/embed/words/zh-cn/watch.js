// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "通知我",
  watch_normal: "回复和提及",
  watch_watching: "每条评论",
  watch_muted: "仅提及",
  watchSaved: "已保存。",
  too_many_watches: "你关注或静音的讨论已达 1000 个。",
  too_fast: "操作太快了，请稍候。",
};
