// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Waarom moeten moderators dit zien?",
  flag_spam: "Spam of reclame",
  flag_abuse: "Belediging of bedreiging",
  flag_off_topic: "Niet over dit onderwerp",
  flag_personal_data: "Persoonsgegevens",
  flag_other: "Iets anders",
  flagNote: "Een opmerking voor de moderators, als je wilt",
  flagSend: "Melding versturen",
  flagBack: "Melding intrekken",
  reported: "Gemeld",
  flagged: "Bedankt. Een moderator kijkt ernaar.",
  flagWithdrawn: "Je melding is ingetrokken.",
  own_comment: "Je kunt je eigen reactie niet melden.",
};
