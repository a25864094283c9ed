// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Scrivi senza account",
  guestName: "Il tuo nome",
  guestEmail: "Il tuo indirizzo e-mail",
  guestGoesOn: "Continua",
  guestBack: "Indietro",
  guestMailed: "Abbiamo inviato un messaggio a {email}. I tuoi commenti saranno visibili quando avrai aperto il suo link.",
  guestUnreachable: "Nessun messaggio può arrivare a questo indirizzo. Scegline un altro.",
  mail_off: "Questo sito al momento non invia messaggi.",
  name_taken: "Qualcun altro qui ha questo nome. Scegline un altro.",
  guests_off: "Questo sito non permette più di scrivere senza account.",
  invalid_request: "Questo nome non si può usare. Scegline un altro.",
};
