// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "Votar a favor deste comentário",
  voteAgainst: "Votar contra este comentário",
  reactToPage: "O que você diz desta página?",
  addReaction: "Adicionar uma reação",
  signInToMark: "Entre para votar e reagir",
  waitsOffline: "Não há conexão. Sua escolha será enviada assim que houver.",
  tooManyMarks: "Isso foi mais rápido do que o permitido aqui. Espere um momento.",
  own_comment: "Você não pode votar no seu próprio comentário.",
  not_enabled: "Isto está desativado aqui.",
  unknown_reaction: "Esta reação não é mais oferecida. Recarregue a página.",
  too_many_reactions: "Não são possíveis mais reações. Retire uma primeiro.",
};
