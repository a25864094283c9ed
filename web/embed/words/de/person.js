// @ts-check
// What the card of a person says in German.
export default {
  block: "Blockieren",
  unblock: "Nicht mehr blockieren",
  blocked: "Du hast {name} blockiert.",
  unblocked: "{name} ist nicht mehr blockiert.",
  show: "Zeigen",
  close: "Schließen",
  since: "Erster Kommentar: {date}",
  countsOf: "Sichtbar: {visible}. Wartend: {pending}. Abgelehnt: {rejected}. Spam: {spam}.",
  latest: "Weitere Kommentare",
  blockedPeople: "Von dir blockiert",
  nobodyBlocked: "Du hast niemanden blockiert.",
  too_many_blocked: "Du hast hier so viele blockiert, wie möglich ist.",
};
