// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "Vota a favore di questo commento",
  voteAgainst: "Vota contro questo commento",
  reactToPage: "Che cosa dici di questa pagina?",
  addReaction: "Aggiungi una reazione",
  signInToMark: "Accedi per votare e reagire",
  waitsOffline: "Non c’è connessione. La tua scelta sarà inviata appena ci sarà.",
  tooManyMarks: "Più veloce di quanto è permesso qui. Aspetta un momento.",
  own_comment: "Non puoi votare il tuo commento.",
  not_enabled: "Qui questa funzione è disattivata.",
  unknown_reaction: "Questa reazione non è più disponibile. Ricarica la pagina.",
  too_many_reactions: "Non sono possibili altre reazioni. Prima togline una.",
};
