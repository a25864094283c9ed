// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Powiadomienia w tej przeglądarce",
  push_on: "Powiadomienia przychodzą do tej przeglądarki bez otwartej strony.",
  push_off_here: "Powiadomienia przychodzą do tej przeglądarki tylko przy otwartej stronie.",
  push_denied: "Powiadomienia tej strony są zablokowane. Najpierw zezwól na nie w ustawieniach przeglądarki.",
  push_unsupported: "Ta przeglądarka nie pokazuje powiadomień stron.",
  pushSwitchOn: "Włącz",
  pushSwitchOff: "Wyłącz",
  pushBack: "Wróć",
  pushFailed: "Przeglądarka odmówiła: {reason}",
  push_off: "Stąd nie są wysyłane wiadomości push.",
  unknown_push_service: "Plaza nic nie wysyła do usługi push tej przeglądarki.",
};
