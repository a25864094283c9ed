// @ts-check
// Not yet read by a native speaker.
export default {
  post: "Pubblica",
  save: "Salva",
  cancel: "Annulla",
  preview: "Anteprima",
  left: "Caratteri rimasti: {count}",
  over: "Caratteri di troppo: {count}",
  edit: "Modifica",
  delete: "Elimina",
  replyTo: "Risposta a {name}",
  posted: "Pubblicato.",
  too_fast: "Scrivi più in fretta di quanto sia permesso qui. Aspetta un momento.",
  body_too_large: "Questo testo è troppo lungo.",
  invalid_request: "Questo testo non può essere pubblicato così com’è.",
  invalid_json: "Questo testo non può essere pubblicato così com’è.",
  unsupported_media_type: "Questo testo non può essere pubblicato così com’è.",
  request_in_progress: "Il tuo testo è in corso di pubblicazione. Aspetta un momento.",
  idempotency_key_reused: "È già stato pubblicato un altro testo. Modifica il tuo e riprova.",
  sending: "Invio…",
  canSend: "Ora puoi inviarlo.",
  kept: "Il tuo testo resta qui.",
};
