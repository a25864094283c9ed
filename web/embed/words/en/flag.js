// @ts-check
// What a report of a comment says in English.
export default {
  flagWhy: "Why should moderators see it?",
  flag_spam: "Spam or advertising",
  flag_abuse: "Insult or threat",
  flag_off_topic: "Off topic",
  flag_personal_data: "Personal data",
  flag_other: "Something else",
  flagNote: "A note for the moderators, if you like",
  flagSend: "Send the report",
  flagBack: "Take the report back",
  reported: "Reported",
  flagged: "Thank you. A moderator will look at it.",
  flagWithdrawn: "Your report is taken back.",
  own_comment: "You cannot report your own comment.",
};
