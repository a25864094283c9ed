// @ts-check
// What a reader who signs in by another service is told in English.
export default {
  access_denied: "You have not signed in.",
  provider_failed: "This sign-in did not work. Try again in a moment.",
  unknown_provider: "This site no longer offers this sign-in.",
  takeAlong: "Yes, with what I wrote as {names}",
  person_taken: "What that guest wrote belongs to another account.",
};
