// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Vous ne vous êtes pas connecté.",
  provider_failed: "La connexion n’a pas fonctionné. Réessayez dans un instant.",
  unknown_provider: "Ce site ne propose plus cette connexion.",
  takeAlong: "Oui, avec ce que j’ai écrit en tant que {names}",
  person_taken: "Ce que cet invité a écrit appartient à un autre compte.",
};
