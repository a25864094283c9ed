// @ts-check
// What the choice of a discussion's notifications says in English.
export default {
  watch: "Notify me of",
  watch_normal: "Replies and mentions",
  watch_watching: "Every comment",
  watch_muted: "Mentions only",
  watchSaved: "Saved.",
  too_many_watches: "You watch or mute 1,000 discussions already.",
  too_fast: "That was faster than is allowed here. Wait a moment.",
};
