// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Meld mij",
  watch_normal: "antwoorden en vermeldingen",
  watch_watching: "elke reactie",
  watch_muted: "alleen vermeldingen",
  watchSaved: "Opgeslagen.",
  too_many_watches: "Je volgt of dempt al 1.000 discussies.",
  too_fast: "Dat ging sneller dan hier mag. Wacht even.",
};
