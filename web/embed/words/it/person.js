// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Blocca",
  unblock: "Sblocca",
  blocked: "Hai bloccato {name}.",
  unblocked: "Non blocchi più {name}.",
  show: "Mostra",
  close: "Chiudi",
  since: "Primo commento: {date}",
  countsOf: "Visibili: {visible}. In attesa: {pending}. Rifiutati: {rejected}. Spam: {spam}.",
  latest: "Altri commenti",
  blockedPeople: "Persone che hai bloccato",
  nobodyBlocked: "Non hai bloccato nessuno.",
  too_many_blocked: "Qui non puoi bloccare altre persone.",
};
