// @ts-check
// What votes and reactions say in English.
export default {
  voteFor: "Vote for this comment",
  voteAgainst: "Vote against this comment",
  reactToPage: "What do you say to this page?",
  addReaction: "Add a reaction",
  signInToMark: "Sign in to vote and react",
  waitsOffline: "There is no connection. What you chose is sent as soon as there is one.",
  tooManyMarks: "That was faster than is allowed here. Wait a moment.",
  own_comment: "You cannot vote on your own comment.",
  not_enabled: "This is switched off here.",
  unknown_reaction: "This reaction is no longer offered. Load the page again.",
  too_many_reactions: "More reactions are not possible. Take one back first.",
};
