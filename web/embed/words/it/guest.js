// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "Il tuo nome",
  guestEmail: "Il tuo indirizzo e-mail",
  guestGoesOn: "Continua",
  guestBack: "Indietro",
  guestMailed: "Abbiamo inviato un messaggio a {email}. I tuoi commenti saranno visibili quando avrai aperto il suo link.",
  guestSignIn: "Ho già scritto qui",
  guestSent: "Se questo indirizzo è noto qui, un messaggio è in arrivo a {email}. Il suo link riporta a questa pagina.",
  guestIsYou: "Scrivere come {name}?",
  guestYes: "Sì",
  guestNo: "No",
  unknown_link: "Questo link è già stato usato o è troppo vecchio.",
  guestUnreachable: "Nessun messaggio può arrivare a questo indirizzo. Scegline un altro.",
  mail_off: "Questo sito al momento non invia messaggi.",
  name_taken: "Qualcun altro qui ha questo nome. Scegline un altro.",
  guests_off: "Questo sito non permette più di scrivere senza account.",
  invalid_request: "Questo nome non si può usare. Scegline un altro.",
};
