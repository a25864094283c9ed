// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Écrire sans compte",
  guestName: "Votre nom",
  guestGoesOn: "Continuer",
  guestBack: "Retour",
  name_taken: "Quelqu’un porte déjà ce nom ici. Choisissez-en un autre.",
  guests_off: "Ce site ne permet plus d’écrire sans compte.",
  invalid_request: "Ce nom ne peut pas être utilisé. Choisissez-en un autre.",
};
