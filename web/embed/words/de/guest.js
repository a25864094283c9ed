// @ts-check
// What a reader without an account is asked in German.
export default {
  asGuest: "Ohne Konto schreiben",
  guestName: "Dein Name",
  guestGoesOn: "Weiter",
  guestBack: "Zurück",
  name_taken: "Diesen Namen hat hier schon jemand. Wähle einen anderen.",
  guests_off: "Ohne Konto kann hier niemand mehr schreiben.",
  invalid_request: "Dieser Name geht nicht. Wähle einen anderen.",
};
