// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Сповіщення: {n} нове",
  "unseen.few": "Сповіщення: {n} нові",
  "unseen.many": "Сповіщення: {n} нових",
  "unseen.other": "Сповіщення: {n} нового",
  notifications: "Сповіщення",
  unseenMost: "Сповіщення: понад 99 нових",
  unread: "не прочитано",
  reply: "Вам відповідає {name}",
  mention: "Вас згадує {name}",
  watched: "Нові коментарі в обговоренні, за яким ви стежите: {name}",
  follow: "Нові підписники: {name}",
  comment: "Коментарі до вашого допису: {name}",
  reaction: "Реакції на ваш допис: {name}",
  wall: "Допис на вашій стіні: {name}",
  readAll: "Позначити все як прочитане",
  byMail: "Поштою",
  noneYet: "Поки нічого: тут з’являться відповіді на ваші коментарі та коментарі, у яких вас згадують.",
  too_fast: "Це було зашвидко. Зачекайте хвилинку.",
};
