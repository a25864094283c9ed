// @ts-check
// What a reader without an account is asked in English.
export default {
  guestName: "Your name",
  guestEmail: "Your e-mail address",
  guestGoesOn: "Continue",
  guestBack: "Back",
  guestMailed: "We have sent a letter to {email}. Your comments are shown once you have opened its link.",
  guestSignIn: "I have written here before",
  guestSent: "If this address is known here, a letter is on its way to {email}. Its link leads back to this page.",
  guestIsYou: "Write as {name}?",
  guestYes: "Yes",
  guestNo: "No",
  unknown_link: "This link has been used already, or is too old.",
  guestUnreachable: "No letter can go to this address. Choose another.",
  mail_off: "This site sends no letters at present.",
  name_taken: "Someone else here has this name. Choose another.",
  guests_off: "This site lets nobody write without an account any more.",
  invalid_request: "This name cannot be used. Choose another.",
};
