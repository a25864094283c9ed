// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Por que os moderadores devem ver isto?",
  flag_spam: "Spam ou publicidade",
  flag_abuse: "Insulto ou ameaça",
  flag_off_topic: "Fora do assunto",
  flag_personal_data: "Dados pessoais",
  flag_other: "Outra coisa",
  flagNote: "Uma observação para os moderadores, se quiser",
  flagSend: "Enviar a denúncia",
  flagBack: "Retirar a denúncia",
  reported: "Denunciado",
  flagged: "Obrigado. Um moderador vai analisar.",
  flagWithdrawn: "Sua denúncia foi retirada.",
  own_comment: "Você não pode denunciar seu próprio comentário.",
};
