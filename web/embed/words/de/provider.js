// @ts-check
// Was Leser lesen, die sich mit einem anderen Dienst anmelden.
export default {
  access_denied: "Du hast dich nicht angemeldet.",
  provider_failed: "Die Anmeldung hat nicht geklappt. Versuche es gleich noch einmal.",
  unknown_provider: "Diese Anmeldung gibt es hier nicht mehr.",
  takeAlong: "Ja, mit dem, was ich als {names} geschrieben habe",
  person_taken: "Was dieser Gast geschrieben hat, gehört zu einem anderen Konto.",
};
