// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} reactie",
  "count.other": "{n} reacties",
  edited: "bewerkt",
  more: "Meer tonen",
  retry: "Opnieuw proberen",
  failed: "Dat is niet gelukt: {reason}",
  offline: "Plaza is niet bereikbaar.",
  unavailable: "Plaza is nu niet beschikbaar. Probeer het zo opnieuw.",
  internal: "Er ging iets mis in Plaza. Probeer het zo opnieuw.",
  bad_id: "Deze pagina is verkeerd ingesteld: “{id}” is geen id.",
  sign_in_failed: "Je aanmelding kan nu niet worden gecontroleerd.",
  unauthenticated: "Je bent niet meer ingelogd. Log opnieuw in; je tekst blijft staan.",
  forbidden: "Dit mag je niet doen.",
  unknown_comment: "Deze reactie is er niet meer.",
  gone: "Deze reactie is verwijderd.",
  confirm: "Deze reactie verwijderen?",
  edit_window_over: "Deze reactie kan niet meer worden gewijzigd.",
  invalid_cursor: "De lijst is gewijzigd. Laad de pagina opnieuw.",
};
