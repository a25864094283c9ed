// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Notificarme",
  watch_normal: "respuestas y menciones",
  watch_watching: "todos los comentarios",
  watch_muted: "solo menciones",
  watchSaved: "Guardado.",
  too_many_watches: "Ya sigues o silencias 1000 conversaciones.",
  too_fast: "Eso fue demasiado rápido. Espera un momento.",
};
