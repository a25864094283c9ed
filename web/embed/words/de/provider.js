// @ts-check
// Was Leser lesen, die sich mit einem anderen Dienst anmelden.
export default {
  signInBy: "Mit {name} anmelden",
  access_denied: "Du hast dich nicht angemeldet.",
  provider_failed: "Die Anmeldung hat nicht geklappt. Versuche es gleich noch einmal.",
  unknown_provider: "Diese Anmeldung gibt es hier nicht mehr.",
};
