// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Powiadamiaj mnie o",
  watch_normal: "odpowiedziach i wzmiankach",
  watch_watching: "każdym komentarzu",
  watch_muted: "samych wzmiankach",
  watchSaved: "Zapisano.",
  too_many_watches: "Obserwujesz lub wyciszasz już 1000 dyskusji.",
  too_fast: "To było za szybko. Poczekaj chwilę.",
};
