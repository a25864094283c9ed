// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Pourquoi la modération doit-elle le voir ?",
  flag_spam: "Spam ou publicité",
  flag_abuse: "Insulte ou menace",
  flag_off_topic: "Hors sujet",
  flag_personal_data: "Données personnelles",
  flag_other: "Autre chose",
  flagNote: "Une note pour la modération, si vous voulez",
  flagSend: "Envoyer le signalement",
  flagBack: "Retirer le signalement",
  reported: "Signalé",
  flagged: "Merci. La modération va l’examiner.",
  flagWithdrawn: "Votre signalement est retiré.",
  own_comment: "Vous ne pouvez pas signaler votre propre commentaire.",
};
