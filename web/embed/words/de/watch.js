// @ts-check
// What the choice of a discussion's notifications says in German.
export default {
  watch: "Benachrichtige mich über",
  watch_normal: "Antworten und Erwähnungen",
  watch_watching: "jeden Kommentar",
  watch_muted: "nur Erwähnungen",
  watchSaved: "Gespeichert.",
  too_many_watches: "Du beobachtest oder stummst schon 1.000 Diskussionen.",
  too_fast: "Das war schneller, als es hier erlaubt ist. Warte einen Moment.",
};
