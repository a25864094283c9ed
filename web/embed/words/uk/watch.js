// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Сповіщати мене",
  watch_normal: "про відповіді та згадки",
  watch_watching: "про кожен коментар",
  watch_muted: "лише про згадки",
  watchSaved: "Збережено.",
  too_many_watches: "Ви вже стежите за 1000 обговорень або вимкнули їх.",
  too_fast: "Це було зашвидко. Зачекайте хвилинку.",
};
