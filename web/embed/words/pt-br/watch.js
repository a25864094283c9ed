// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Avise-me sobre",
  watch_normal: "respostas e menções",
  watch_watching: "todos os comentários",
  watch_muted: "somente menções",
  watchSaved: "Salvo.",
  too_many_watches: "Você já acompanha ou silencia 1.000 discussões.",
  too_fast: "Isso foi rápido demais. Espere um momento.",
};
