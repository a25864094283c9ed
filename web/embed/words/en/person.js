// @ts-check
// What the card of a person says in English.
export default {
  block: "Block",
  unblock: "Unblock",
  blocked: "You blocked {name}.",
  unblocked: "{name} is no longer blocked.",
  show: "Show",
  close: "Close",
  since: "First comment: {date}",
  countsOf: "Visible: {visible}. Waiting: {pending}. Rejected: {rejected}. Spam: {spam}.",
  latest: "Other comments",
  blockedPeople: "People you have blocked",
  nobodyBlocked: "You have blocked nobody.",
  too_many_blocked: "You have blocked as many people here as you may.",
};
