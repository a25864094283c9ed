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
  replied: "Вам отвечает {name}",
  mentioned: "Вас упоминает {name}",
  readAll: "Отметить все как прочитанные",
  byMail: "По почте",
  noneYet: "Пока ничего: здесь появятся ответы на ваши комментарии и комментарии, в которых вас упоминают.",
  too_fast: "Это было слишком быстро. Подождите немного.",
};
