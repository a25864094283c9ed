// @ts-check
// What push messages of a browser say in German.
export default {
  pushTitle: "Benachrichtigungen in diesem Browser",
  push_on: "Deine Benachrichtigungen kommen in diesen Browser, auch ohne offene Seite.",
  push_off_here: "Benachrichtigungen kommen in diesen Browser nur, solange eine Seite offen ist.",
  push_denied: "Du hast Benachrichtigungen dieser Seite blockiert. Erlaube sie zuerst in den Einstellungen des Browsers.",
  push_unsupported: "Dieser Browser zeigt keine Benachrichtigungen von Seiten.",
  pushSwitchOn: "Einschalten",
  pushSwitchOff: "Ausschalten",
  pushBack: "Zurück",
  pushFailed: "Der Browser hat abgelehnt: {reason}",
  push_off: "Von hier werden keine Push-Nachrichten verschickt.",
  unknown_push_service: "Plaza schickt nichts an den Push-Dienst dieses Browsers.",
};
