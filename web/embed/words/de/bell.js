// @ts-check
// What a bell and its notifications say in German.
export default {
  "unseen.one": "Benachrichtigungen: {n} neue",
  "unseen.other": "Benachrichtigungen: {n} neue",
  notifications: "Benachrichtigungen",
  unseenMost: "Benachrichtigungen: mehr als 99 neue",
  unread: "ungelesen",
  reply: "{name} hat dir geantwortet",
  mention: "{name} hat dich erwähnt",
  watched: "Neue Kommentare in einer Diskussion, die du beobachtest: {name}",
  follow: "Folgt dir jetzt: {name}",
  comment: "Kommentare zu deinem Beitrag: {name}",
  reaction: "Reaktionen auf deinen Beitrag: {name}",
  wall: "Ein Beitrag auf deiner Pinnwand: {name}",
  paid: "Deine Bestellung ist bezahlt",
  shipped: "Deine Bestellung ist unterwegs",
  cancelled: "Deine Bestellung endete ohne Zahlung",
  refunded: "Geld für deine Bestellung kommt zurück",
  readAll: "Alle als gelesen markieren",
  byMail: "Per E-Mail",
  noneYet: "Noch nichts: Hier stehen Antworten auf deine Kommentare und Kommentare, die dich erwähnen.",
  too_fast: "Das war schneller, als es hier erlaubt ist. Warte einen Moment.",
};
