// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Meldingen in deze browser",
  push_on: "Je meldingen komen in deze browser zonder dat er een pagina open is.",
  push_off_here: "Meldingen komen in deze browser alleen zolang er een pagina open is.",
  push_denied: "Je hebt meldingen van deze pagina geblokkeerd. Sta ze eerst toe in de instellingen van de browser.",
  push_unsupported: "Deze browser toont geen meldingen van pagina’s.",
  pushSwitchOn: "Aanzetten",
  pushSwitchOff: "Uitzetten",
  pushBack: "Terug",
  pushFailed: "De browser weigerde: {reason}",
  push_off: "Van hieruit worden geen pushberichten verstuurd.",
  unknown_push_service: "Plaza stuurt niets naar de pushdienst van deze browser.",
};
