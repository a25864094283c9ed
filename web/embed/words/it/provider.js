// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Non hai effettuato l’accesso.",
  provider_failed: "L’accesso non è riuscito. Riprova tra un momento.",
  unknown_provider: "Questo sito non offre più questo accesso.",
  takeAlong: "Sì, con ciò che ho scritto come {names}",
  person_taken: "Ciò che ha scritto questo ospite appartiene a un altro account.",
};
