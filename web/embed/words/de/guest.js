// @ts-check
// What a reader without an account is asked in German.
export default {
  guestName: "Dein Name",
  guestEmail: "Deine E-Mail-Adresse",
  guestGoesOn: "Weiter",
  guestBack: "Zurück",
  guestMailed: "Ein Brief ist unterwegs an {email}. Deine Kommentare erscheinen, sobald du seinen Link geöffnet hast.",
  guestSignIn: "Ich habe hier schon geschrieben",
  guestSent: "Wenn diese Adresse hier bekannt ist, ist ein Brief unterwegs an {email}. Sein Link führt auf diese Seite zurück.",
  guestIsYou: "Als {name} schreiben?",
  guestYes: "Ja",
  guestNo: "Nein",
  unknown_link: "Dieser Link ist schon benutzt oder zu alt.",
  guestUnreachable: "An diese Adresse kann kein Brief gehen. Wähle eine andere.",
  mail_off: "Diese Website verschickt zurzeit keine Briefe.",
  name_taken: "Diesen Namen hat hier schon jemand. Wähle einen anderen.",
  guests_off: "Ohne Konto kann hier niemand mehr schreiben.",
  invalid_request: "Dieser Name geht nicht. Wähle einen anderen.",
};
