// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Писати без облікового запису",
  guestName: "Ваше ім’я",
  guestEmail: "Ваша адреса e-mail",
  guestGoesOn: "Далі",
  guestBack: "Назад",
  guestMailed: "Лист надіслано на {email}. Ваші коментарі з’являться, коли ви відкриєте посилання в ньому.",
  guestUnreachable: "На цю адресу не можна надіслати лист. Виберіть іншу.",
  mail_off: "Цей сайт зараз не надсилає листів.",
  name_taken: "Це ім’я тут уже має хтось інший. Виберіть інше.",
  guests_off: "На цьому сайті більше не можна писати без облікового запису.",
  invalid_request: "Це ім’я не можна використати. Виберіть інше.",
};
