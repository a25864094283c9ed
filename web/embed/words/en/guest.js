// @ts-check
// What a reader without an account is asked in English.
export default {
  asGuest: "Write without an account",
  guestName: "Your name",
  guestGoesOn: "Continue",
  guestBack: "Back",
  name_taken: "Someone else here has this name. Choose another.",
  guests_off: "This site lets nobody write without an account any more.",
  invalid_request: "This name cannot be used. Choose another.",
};
