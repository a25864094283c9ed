// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "Votre nom",
  guestEmail: "Votre adresse e-mail",
  guestGoesOn: "Continuer",
  guestBack: "Retour",
  guestMailed: "Un message part pour {email}. Vos commentaires seront affichés une fois son lien ouvert.",
  guestSignIn: "J’ai déjà écrit ici",
  guestSent: "Si cette adresse est connue ici, un message part pour {email}. Son lien ramène à cette page.",
  guestIsYou: "Écrire en tant que {name} ?",
  guestYes: "Oui",
  guestNo: "Non",
  unknown_link: "Ce lien a déjà servi ou est trop ancien.",
  guestUnreachable: "Aucun message ne peut aller à cette adresse. Choisissez-en une autre.",
  mail_off: "Ce site n’envoie pas de messages pour le moment.",
  name_taken: "Quelqu’un porte déjà ce nom ici. Choisissez-en un autre.",
  guests_off: "Ce site ne permet plus d’écrire sans compte.",
  invalid_request: "Ce nom ne peut pas être utilisé. Choisissez-en un autre.",
};
