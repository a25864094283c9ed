// @ts-check
// What several elements say in German.
export default {
  "count.one": "{n} Kommentar",
  "count.other": "{n} Kommentare",
  edited: "bearbeitet",
  more: "Mehr anzeigen",
  retry: "Noch einmal versuchen",
  failed: "Das ging nicht: {reason}",
  offline: "Plaza ist nicht erreichbar.",
  unavailable: "Plaza ist gerade nicht verfügbar. Versuche es gleich noch einmal.",
  internal: "In Plaza ist etwas schiefgegangen. Versuche es gleich noch einmal.",
  bad_id: "Diese Seite ist falsch eingerichtet: „{id}“ ist keine Kennung.",
  sign_in_failed: "Deine Anmeldung lässt sich gerade nicht prüfen.",
  unauthenticated: "Deine Anmeldung ist abgelaufen. Melde dich neu an; dein Text bleibt stehen.",
  forbidden: "Das darfst du nicht.",
  unknown_comment: "Diesen Kommentar gibt es nicht mehr.",
  gone: "Dieser Kommentar wurde gelöscht.",
  confirm: "Diesen Kommentar löschen?",
  edit_window_over: "Dieser Kommentar kann nicht mehr geändert werden.",
  invalid_cursor: "Die Liste hat sich geändert. Lade die Seite neu.",
};
