// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Чому це мають побачити модератори?",
  flag_spam: "Спам або реклама",
  flag_abuse: "Образа або погроза",
  flag_off_topic: "Не за темою",
  flag_personal_data: "Особисті дані",
  flag_other: "Інше",
  flagNote: "Примітка для модераторів, якщо хочете",
  flagSend: "Надіслати скаргу",
  flagBack: "Відкликати скаргу",
  reported: "Скаргу надіслано",
  flagged: "Дякуємо. Модератор перегляне.",
  flagWithdrawn: "Вашу скаргу відкликано.",
  own_comment: "Не можна поскаржитися на власний коментар.",
};
