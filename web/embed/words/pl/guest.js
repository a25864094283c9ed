// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Pisz bez konta",
  guestName: "Twoja nazwa",
  guestGoesOn: "Dalej",
  guestBack: "Wróć",
  name_taken: "Ktoś tutaj ma już tę nazwę. Wybierz inną.",
  guests_off: "Na tej stronie nie można już pisać bez konta.",
  invalid_request: "Tej nazwy nie można użyć. Wybierz inną.",
};
