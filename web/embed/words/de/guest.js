// @ts-check
// What a reader without an account is asked in German.
export default {
  asGuest: "Ohne Konto schreiben",
  guestName: "Dein Name",
  guestEmail: "Deine E-Mail-Adresse",
  guestGoesOn: "Weiter",
  guestBack: "Zurück",
  guestMailed: "Ein Brief ist unterwegs an {email}. Deine Kommentare erscheinen, sobald du seinen Link geöffnet hast.",
  guestUnreachable: "An diese Adresse kann kein Brief gehen. Wähle eine andere.",
  mail_off: "Diese Website verschickt zurzeit keine Briefe.",
  name_taken: "Diesen Namen hat hier schon jemand. Wähle einen anderen.",
  guests_off: "Ohne Konto kann hier niemand mehr schreiben.",
  invalid_request: "Dieser Name geht nicht. Wähle einen anderen.",
};
