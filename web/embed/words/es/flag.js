// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "¿Por qué deben verlo los moderadores?",
  flag_spam: "Spam o publicidad",
  flag_abuse: "Insulto o amenaza",
  flag_off_topic: "Fuera de tema",
  flag_personal_data: "Datos personales",
  flag_other: "Otra cosa",
  flagNote: "Una nota para los moderadores, si quieres",
  flagSend: "Enviar la denuncia",
  flagBack: "Retirar la denuncia",
  reported: "Denunciado",
  flagged: "Gracias. Un moderador lo revisará.",
  flagWithdrawn: "Tu denuncia se ha retirado.",
  own_comment: "No puedes denunciar tu propio comentario.",
};
