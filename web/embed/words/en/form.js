// @ts-check
// What a form for a text says in English, and why a text is not taken.
export default {
  post: "Post",
  save: "Save",
  cancel: "Cancel",
  preview: "Preview",
  left: "Characters left: {count}",
  over: "Characters too many: {count}",
  edit: "Edit",
  delete: "Delete",
  replyTo: "Reply to {name}",
  posted: "Posted.",
  too_fast: "You write faster than is allowed here. Wait a moment.",
  body_too_large: "This text is too long.",
  invalid_request: "This text cannot be posted as it is.",
  invalid_json: "This text cannot be posted as it is.",
  unsupported_media_type: "This text cannot be posted as it is.",
  request_in_progress: "Your text is still being posted. Wait a moment.",
  idempotency_key_reused: "Another text was already posted. Change yours and try again.",
  sending: "Sending…",
  canSend: "You can send it now.",
  kept: "Your text is kept here.",
};
