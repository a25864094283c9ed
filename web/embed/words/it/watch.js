// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Avvisami di",
  watch_normal: "risposte e menzioni",
  watch_watching: "ogni commento",
  watch_muted: "solo menzioni",
  watchSaved: "Salvato.",
  too_many_watches: "Segui o silenzi già 1000 discussioni.",
  too_fast: "Troppo veloce. Aspetta un momento.",
};
