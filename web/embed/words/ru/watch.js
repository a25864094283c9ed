// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Уведомлять меня",
  watch_normal: "об ответах и упоминаниях",
  watch_watching: "о каждом комментарии",
  watch_muted: "только об упоминаниях",
  watchSaved: "Сохранено.",
  too_many_watches: "Вы уже следите за 1000 обсуждений или отключили их.",
  too_fast: "Это было слишком быстро. Подождите немного.",
};
