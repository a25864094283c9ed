// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Blokkeren",
  unblock: "Niet meer blokkeren",
  blocked: "Je hebt {name} geblokkeerd.",
  unblocked: "{name} is niet meer geblokkeerd.",
  show: "Tonen",
  close: "Sluiten",
  since: "Eerste reactie: {date}",
  countsOf: "Zichtbaar: {visible}. Wachtend: {pending}. Afgewezen: {rejected}. Spam: {spam}.",
  latest: "Andere reacties",
  blockedPeople: "Mensen die je hebt geblokkeerd",
  nobodyBlocked: "Je hebt niemand geblokkeerd.",
  too_many_blocked: "Je kunt hier niet meer mensen blokkeren.",
};
