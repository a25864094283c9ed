// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Je bent niet ingelogd.",
  provider_failed: "Het inloggen is niet gelukt. Probeer het zo nog eens.",
  unknown_provider: "Deze site biedt deze manier van inloggen niet meer.",
  takeAlong: "Ja, met wat ik als {names} heb geschreven",
  person_taken: "Wat deze gast heeft geschreven, hoort bij een ander account.",
};
