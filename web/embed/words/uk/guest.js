// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Писати без облікового запису",
  guestName: "Ваше ім’я",
  guestGoesOn: "Далі",
  guestBack: "Назад",
  name_taken: "Це ім’я тут уже має хтось інший. Виберіть інше.",
  guests_off: "На цьому сайті більше не можна писати без облікового запису.",
  invalid_request: "Це ім’я не можна використати. Виберіть інше.",
};
