// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "Votar a favor de este comentario",
  voteAgainst: "Votar en contra de este comentario",
  reactToPage: "¿Qué te parece esta página?",
  addReaction: "Añadir una reacción",
  signInToMark: "Inicia sesión para votar y reaccionar",
  waitsOffline: "No hay conexión. Lo que has elegido se enviará en cuanto la haya.",
  tooManyMarks: "Eso fue más rápido de lo que se permite aquí. Espera un momento.",
  own_comment: "No puedes votar tu propio comentario.",
  not_enabled: "Esto está desactivado aquí.",
  unknown_reaction: "Esta reacción ya no se ofrece. Vuelve a cargar la página.",
  too_many_reactions: "No son posibles más reacciones. Retira una primero.",
};
