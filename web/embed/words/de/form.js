// @ts-check
// What a form for a text says in German, and why a text is not taken.
export default {
  post: "Senden",
  save: "Speichern",
  cancel: "Abbrechen",
  preview: "Vorschau",
  left: "Noch {count} Zeichen",
  over: "{count} Zeichen zu viel",
  edit: "Bearbeiten",
  delete: "Löschen",
  replyTo: "Antwort an {name}",
  posted: "Gesendet.",
  too_fast: "Du schreibst schneller, als es hier erlaubt ist. Warte einen Moment.",
  body_too_large: "Dieser Text ist zu lang.",
  invalid_request: "Dieser Text kann so nicht gesendet werden.",
  invalid_json: "Dieser Text kann so nicht gesendet werden.",
  unsupported_media_type: "Dieser Text kann so nicht gesendet werden.",
  request_in_progress: "Dein Text wird noch gesendet. Warte einen Moment.",
  idempotency_key_reused: "Es wurde schon ein anderer Text gesendet. Ändere deinen und versuche es noch einmal.",
  sending: "Wird gesendet …",
  canSend: "Jetzt kannst du es senden.",
  kept: "Dein Text bleibt hier stehen.",
};
