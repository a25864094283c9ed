// @ts-check
// Not yet read by a native speaker.
export default {
  post: "Plaatsen",
  save: "Opslaan",
  cancel: "Annuleren",
  preview: "Voorbeeld",
  left: "Tekens over: {count}",
  over: "Tekens te veel: {count}",
  edit: "Bewerken",
  delete: "Verwijderen",
  replyTo: "Antwoord aan {name}",
  posted: "Geplaatst.",
  too_fast: "Je schrijft sneller dan hier is toegestaan. Wacht even.",
  body_too_large: "Deze tekst is te lang.",
  invalid_request: "Deze tekst kan zo niet worden geplaatst.",
  invalid_json: "Deze tekst kan zo niet worden geplaatst.",
  unsupported_media_type: "Deze tekst kan zo niet worden geplaatst.",
  request_in_progress: "Je tekst wordt nog geplaatst. Wacht even.",
  idempotency_key_reused: "Er is al een andere tekst geplaatst. Wijzig de jouwe en probeer het opnieuw.",
  sending: "Bezig…",
  canSend: "Je kunt het nu versturen.",
  kept: "Je tekst blijft hier staan.",
};
