// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Уведомления: {n} новое",
  "unseen.few": "Уведомления: {n} новых",
  "unseen.many": "Уведомления: {n} новых",
  "unseen.other": "Уведомления: {n} нового",
  notifications: "Уведомления",
  unseenMost: "Уведомления: более 99 новых",
  unread: "не прочитано",
  reply: "Вам отвечает {name}",
  mention: "Вас упоминает {name}",
  follow: "Новые подписчики: {name}",
  comment: "Комментарии к вашей записи: {name}",
  reaction: "Реакции на вашу запись: {name}",
  wall: "Запись на вашей стене: {name}",
  readAll: "Отметить все как прочитанные",
  byMail: "По почте",
  noneYet: "Пока ничего: здесь появятся ответы на ваши комментарии и комментарии, в которых вас упоминают.",
  too_fast: "Это было слишком быстро. Подождите немного.",
};
