// @ts-check
// What several elements say in English: what other languages lack is taken from here.
export default {
  "count.one": "{n} comment",
  "count.other": "{n} comments",
  edited: "edited",
  more: "Show more",
  retry: "Try again",
  failed: "That did not work: {reason}",
  offline: "Plaza cannot be reached.",
  unavailable: "Plaza is not available right now. Try again in a moment.",
  internal: "Something went wrong in Plaza. Try again in a moment.",
  bad_id: "This page is not set up well: “{id}” is no id.",
  sign_in_failed: "Your sign-in cannot be checked right now.",
  unauthenticated: "Your sign-in has ended. Sign in again; your text is kept.",
  forbidden: "You may not do this.",
  unknown_comment: "This comment is no longer there.",
  gone: "This comment was deleted.",
  confirm: "Delete this comment?",
  edit_window_over: "This comment can no longer be changed.",
  invalid_cursor: "The list has changed. Load the page again.",
};
