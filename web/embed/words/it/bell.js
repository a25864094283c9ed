// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Notifiche: {n} nuova",
  "unseen.many": "Notifiche: {n} nuove",
  "unseen.other": "Notifiche: {n} nuove",
  notifications: "Notifiche",
  unseenMost: "Notifiche: più di 99 nuove",
  unread: "da leggere",
  reply: "{name} ti ha risposto",
  mention: "{name} ti ha menzionato",
  watched: "Nuovi commenti in una discussione che segui: {name}",
  follow: "Nuovi follower: {name}",
  comment: "Commenti al tuo post: {name}",
  reaction: "Reazioni al tuo post: {name}",
  wall: "Un post sulla tua bacheca: {name}",
  readAll: "Segna tutto come letto",
  byMail: "Per e-mail",
  noneYet: "Ancora niente: qui compaiono le risposte ai tuoi commenti e i commenti che ti menzionano.",
  too_fast: "Troppo veloce. Aspetta un momento.",
};
