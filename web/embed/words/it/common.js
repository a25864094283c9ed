// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} commento",
  "count.many": "{n} di commenti",
  "count.other": "{n} commenti",
  edited: "modificato",
  more: "Mostra altro",
  retry: "Riprova",
  failed: "Non ha funzionato: {reason}",
  offline: "Plaza non è raggiungibile.",
  unavailable: "Plaza non è disponibile in questo momento. Riprova tra poco.",
  internal: "Qualcosa è andato storto in Plaza. Riprova tra poco.",
  bad_id: "Questa pagina è configurata male: «{id}» non è un identificativo.",
  sign_in_failed: "Al momento non è possibile verificare il tuo accesso.",
  unauthenticated: "La tua sessione è scaduta. Accedi di nuovo; il tuo testo resta qui.",
  forbidden: "Non hai il permesso di farlo.",
  unknown_comment: "Questo commento non c’è più.",
  gone: "Questo commento è stato eliminato.",
  confirm: "Eliminare questo commento?",
  edit_window_over: "Questo commento non si può più modificare.",
  invalid_cursor: "L’elenco è cambiato. Ricarica la pagina.",
};
