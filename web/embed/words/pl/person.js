// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Zablokuj",
  unblock: "Odblokuj",
  blocked: "Zablokowano: {name}.",
  unblocked: "Odblokowano: {name}.",
  show: "Pokaż",
  close: "Zamknij",
  since: "Pierwszy komentarz: {date}",
  countsOf: "Widoczne: {visible}. Oczekujące: {pending}. Odrzucone: {rejected}. Spam: {spam}.",
  latest: "Inne komentarze",
  blockedPeople: "Zablokowane przez ciebie osoby",
  nobodyBlocked: "Nikt nie jest przez ciebie zablokowany.",
  too_many_blocked: "Nie możesz tu zablokować więcej osób.",
};
