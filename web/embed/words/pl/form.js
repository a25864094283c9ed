// @ts-check
// Not yet read by a native speaker.
export default {
  post: "Opublikuj",
  save: "Zapisz",
  cancel: "Anuluj",
  preview: "Podgląd",
  left: "Pozostało znaków: {count}",
  over: "Znaków za dużo: {count}",
  edit: "Edytuj",
  delete: "Usuń",
  replyTo: "Odpowiedź do: {name}",
  posted: "Opublikowano.",
  too_fast: "Piszesz szybciej, niż jest to tu dozwolone. Poczekaj chwilę.",
  body_too_large: "Ten tekst jest za długi.",
  invalid_request: "Tego tekstu nie można opublikować w tej postaci.",
  invalid_json: "Tego tekstu nie można opublikować w tej postaci.",
  unsupported_media_type: "Tego tekstu nie można opublikować w tej postaci.",
  request_in_progress: "Twój tekst jest jeszcze publikowany. Poczekaj chwilę.",
  idempotency_key_reused: "Opublikowano już inny tekst. Zmień swój i spróbuj ponownie.",
  sending: "Wysyłanie…",
  canSend: "Teraz możesz to wysłać.",
  kept: "Twój tekst pozostaje tutaj.",
};
