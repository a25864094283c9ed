// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Notifiche in questo browser",
  push_on: "Le tue notifiche arrivano in questo browser senza pagine aperte.",
  push_off_here: "Le notifiche arrivano in questo browser solo mentre una pagina è aperta.",
  push_denied: "Hai bloccato le notifiche di questa pagina. Consentile prima nelle impostazioni del browser.",
  push_unsupported: "Questo browser non mostra notifiche di pagine.",
  pushSwitchOn: "Attiva",
  pushSwitchOff: "Disattiva",
  pushBack: "Indietro",
  pushFailed: "Il browser ha rifiutato: {reason}",
  push_off: "Da qui non si inviano messaggi push.",
  unknown_push_service: "Plaza non invia nulla al servizio push di questo browser.",
};
