// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Писать без учётной записи",
  guestName: "Ваше имя",
  guestEmail: "Ваш адрес e-mail",
  guestGoesOn: "Дальше",
  guestBack: "Назад",
  guestMailed: "Письмо отправлено на {email}. Ваши комментарии появятся, когда вы откроете ссылку в нём.",
  guestUnreachable: "На этот адрес нельзя отправить письмо. Выберите другой.",
  mail_off: "Этот сайт сейчас не отправляет писем.",
  name_taken: "Это имя здесь уже у кого-то другого. Выберите другое.",
  guests_off: "На этом сайте больше нельзя писать без учётной записи.",
  invalid_request: "Это имя нельзя использовать. Выберите другое.",
};
