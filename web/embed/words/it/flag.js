// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Perché i moderatori dovrebbero vederlo?",
  flag_spam: "Spam o pubblicità",
  flag_abuse: "Insulto o minaccia",
  flag_off_topic: "Fuori tema",
  flag_personal_data: "Dati personali",
  flag_other: "Altro",
  flagNote: "Una nota per i moderatori, se vuoi",
  flagSend: "Invia la segnalazione",
  flagBack: "Ritira la segnalazione",
  reported: "Segnalato",
  flagged: "Grazie. Un moderatore lo esaminerà.",
  flagWithdrawn: "La tua segnalazione è stata ritirata.",
  own_comment: "Non puoi segnalare il tuo commento.",
};
