// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Notifications : {n} nouvelle",
  "unseen.many": "Notifications : {n} nouvelles",
  "unseen.other": "Notifications : {n} nouvelles",
  notifications: "Notifications",
  unseenMost: "Notifications : plus de 99 nouvelles",
  unread: "non lue",
  reply: "{name} vous a répondu",
  mention: "{name} vous a mentionné",
  watched: "Nouveaux commentaires dans une discussion que vous suivez : {name}",
  follow: "Nouveaux abonnés : {name}",
  comment: "Commentaires sur votre publication : {name}",
  reaction: "Réactions à votre publication : {name}",
  wall: "Une publication sur votre mur : {name}",
  readAll: "Tout marquer comme lu",
  byMail: "Par e-mail",
  noneYet: "Rien pour le moment : les réponses à vos commentaires et les commentaires qui vous mentionnent apparaîtront ici.",
  too_fast: "C’était trop rapide. Attendez un instant.",
};
