// @ts-check
// What votes and reactions say in German.
export default {
  voteFor: "Für diesen Kommentar stimmen",
  voteAgainst: "Gegen diesen Kommentar stimmen",
  reactToPage: "Was sagst du zu dieser Seite?",
  addReaction: "Reaktion hinzufügen",
  signInToMark: "Zum Abstimmen und Reagieren anmelden",
  waitsOffline: "Keine Verbindung. Deine Wahl wird gesendet, sobald es wieder eine gibt.",
  tooManyMarks: "Das ging schneller, als es hier erlaubt ist. Warte einen Moment.",
  own_comment: "Über den eigenen Kommentar kannst du nicht abstimmen.",
  not_enabled: "Das ist hier abgeschaltet.",
  unknown_reaction: "Diese Reaktion gibt es nicht mehr. Lade die Seite neu.",
  too_many_reactions: "Mehr Reaktionen sind nicht möglich. Nimm erst eine zurück.",
};
