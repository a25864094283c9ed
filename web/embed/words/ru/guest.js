// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Писать без учётной записи",
  guestName: "Ваше имя",
  guestGoesOn: "Дальше",
  guestBack: "Назад",
  name_taken: "Это имя здесь уже у кого-то другого. Выберите другое.",
  guests_off: "На этом сайте больше нельзя писать без учётной записи.",
  invalid_request: "Это имя нельзя использовать. Выберите другое.",
};
