// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "Je naam",
  guestEmail: "Je e-mailadres",
  guestGoesOn: "Verder",
  guestBack: "Terug",
  guestMailed: "Er is een bericht onderweg naar {email}. Je reacties worden getoond zodra je de link erin hebt geopend.",
  guestSignIn: "Ik heb hier al eens geschreven",
  guestSent: "Als dit adres hier bekend is, is er een bericht onderweg naar {email}. De link daarin leidt terug naar deze pagina.",
  guestIsYou: "Schrijven als {name}?",
  guestYes: "Ja",
  guestNo: "Nee",
  unknown_link: "Deze link is al gebruikt of te oud.",
  guestUnreachable: "Naar dit adres kan geen bericht. Kies een ander.",
  mail_off: "Deze site verstuurt op dit moment geen berichten.",
  name_taken: "Iemand anders hier heeft deze naam al. Kies een andere.",
  guests_off: "Op deze site kan niemand meer zonder account schrijven.",
  invalid_request: "Deze naam kan niet. Kies een andere.",
};
