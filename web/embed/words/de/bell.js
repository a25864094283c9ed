// @ts-check
// What a bell and its notifications say in German.
export default {
  "unseen.one": "Benachrichtigungen: {n} neue",
  "unseen.other": "Benachrichtigungen: {n} neue",
  notifications: "Benachrichtigungen",
  unseenMost: "Benachrichtigungen: mehr als 99 neue",
  unread: "ungelesen",
  replied: "{name} hat dir geantwortet",
  mentioned: "{name} hat dich erwähnt",
  readAll: "Alle als gelesen markieren",
  byMail: "Per E-Mail",
  noneYet: "Noch nichts: Hier stehen Antworten auf deine Kommentare und Kommentare, die dich erwähnen.",
  too_fast: "Das war schneller, als es hier erlaubt ist. Warte einen Moment.",
};
