// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "Voter pour ce commentaire",
  voteAgainst: "Voter contre ce commentaire",
  reactToPage: "Que dites-vous de cette page ?",
  addReaction: "Ajouter une réaction",
  signInToMark: "Connectez-vous pour voter et réagir",
  waitsOffline: "Pas de connexion. Votre choix sera envoyé dès qu’elle sera rétablie.",
  tooManyMarks: "C’était plus rapide que ce qui est permis ici. Attendez un instant.",
  own_comment: "Vous ne pouvez pas voter pour votre propre commentaire.",
  not_enabled: "Cette fonction est désactivée ici.",
  unknown_reaction: "Cette réaction n’est plus proposée. Rechargez la page.",
  too_many_reactions: "Il n’est pas possible d’ajouter d’autres réactions. Retirez-en une d’abord.",
};
