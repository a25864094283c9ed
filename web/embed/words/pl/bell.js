// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Powiadomienia: {n} nowe",
  "unseen.few": "Powiadomienia: {n} nowe",
  "unseen.many": "Powiadomienia: {n} nowych",
  "unseen.other": "Powiadomienia: {n} nowego",
  notifications: "Powiadomienia",
  unseenMost: "Powiadomienia: ponad 99 nowych",
  unread: "nieprzeczytane",
  reply: "Odpowiedź od: {name}",
  mention: "Wzmianka od: {name}",
  watched: "Nowe komentarze w obserwowanej dyskusji: {name}",
  follow: "Nowi obserwujący: {name}",
  comment: "Komentarze do Twojego wpisu: {name}",
  reaction: "Reakcje na Twój wpis: {name}",
  wall: "Wpis na Twojej tablicy: {name}",
  readAll: "Oznacz wszystkie jako przeczytane",
  byMail: "E-mailem",
  noneYet: "Jeszcze nic: tutaj pojawią się odpowiedzi na Twoje komentarze i komentarze, w których jest o Tobie wzmianka.",
  too_fast: "To było za szybko. Poczekaj chwilę.",
};
