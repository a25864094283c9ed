// @ts-check
// What push messages of a browser say in English.
export default {
  pushTitle: "Notifications in this browser",
  push_on: "Your notifications come to this browser while no page is open.",
  push_off_here: "Notifications come to this browser only while a page is open.",
  push_denied: "You have blocked notifications of this page. Allow them in the browser's settings first.",
  push_unsupported: "This browser shows no notifications of pages.",
  pushSwitchOn: "Switch on",
  pushSwitchOff: "Switch off",
  pushBack: "Back",
  pushFailed: "The browser refused: {reason}",
  push_off: "No push messages are sent from here.",
  unknown_push_service: "Plaza sends nothing to the push service of this browser.",
};
