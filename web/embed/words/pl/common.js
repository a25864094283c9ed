// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} komentarz",
  "count.few": "{n} komentarze",
  "count.many": "{n} komentarzy",
  "count.other": "{n} komentarza",
  edited: "edytowany",
  more: "Pokaż więcej",
  retry: "Spróbuj ponownie",
  failed: "Nie udało się: {reason}",
  offline: "Nie można połączyć się z Plazą.",
  unavailable: "Plaza jest chwilowo niedostępna. Spróbuj ponownie za chwilę.",
  internal: "W Plazie wystąpił błąd. Spróbuj ponownie za chwilę.",
  bad_id: "Ta strona jest źle skonfigurowana: „{id}” nie jest identyfikatorem.",
  sign_in_failed: "Nie można teraz sprawdzić Twojego logowania.",
  unauthenticated: "Sesja wygasła. Zaloguj się ponownie; Twój tekst pozostaje tutaj.",
  forbidden: "Nie możesz tego zrobić.",
  unknown_comment: "Tego komentarza już nie ma.",
  gone: "Ten komentarz został usunięty.",
  confirm: "Usunąć ten komentarz?",
  edit_window_over: "Tego komentarza nie można już zmienić.",
  invalid_cursor: "Lista się zmieniła. Odśwież stronę.",
};
