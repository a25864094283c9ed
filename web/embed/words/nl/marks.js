// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "Voor deze reactie stemmen",
  voteAgainst: "Tegen deze reactie stemmen",
  reactToPage: "Wat vind je van deze pagina?",
  addReaction: "Emoji toevoegen",
  signInToMark: "Log in om te stemmen en te reageren",
  waitsOffline: "Er is geen verbinding. Je keuze wordt verstuurd zodra die er is.",
  tooManyMarks: "Dat ging sneller dan hier is toegestaan. Wacht even.",
  own_comment: "Je kunt niet op je eigen reactie stemmen.",
  not_enabled: "Dit staat hier uit.",
  unknown_reaction: "Deze emoji wordt niet meer aangeboden. Laad de pagina opnieuw.",
  too_many_reactions: "Meer emoji’s zijn niet mogelijk. Haal er eerst een weg.",
};
