// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Scrivi senza account",
  guestName: "Il tuo nome",
  guestGoesOn: "Continua",
  guestBack: "Indietro",
  name_taken: "Qualcun altro qui ha questo nome. Scegline un altro.",
  guests_off: "Questo sito non permette più di scrivere senza account.",
  invalid_request: "Questo nome non si può usare. Scegline un altro.",
};
