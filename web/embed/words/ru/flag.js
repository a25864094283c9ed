// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Почему это должны увидеть модераторы?",
  flag_spam: "Спам или реклама",
  flag_abuse: "Оскорбление или угроза",
  flag_off_topic: "Не по теме",
  flag_personal_data: "Личные данные",
  flag_other: "Другое",
  flagNote: "Примечание для модераторов, если хотите",
  flagSend: "Отправить жалобу",
  flagBack: "Отозвать жалобу",
  reported: "Жалоба отправлена",
  flagged: "Спасибо. Модератор посмотрит.",
  flagWithdrawn: "Ваша жалоба отозвана.",
  own_comment: "Нельзя пожаловаться на собственный комментарий.",
};
