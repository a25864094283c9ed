// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "Dlaczego moderatorzy powinni to zobaczyć?",
  flag_spam: "Spam lub reklama",
  flag_abuse: "Obraza lub groźba",
  flag_off_topic: "Nie na temat",
  flag_personal_data: "Dane osobowe",
  flag_other: "Coś innego",
  flagNote: "Uwaga dla moderatorów, jeśli chcesz",
  flagSend: "Wyślij zgłoszenie",
  flagBack: "Wycofaj zgłoszenie",
  reported: "Zgłoszono",
  flagged: "Dziękujemy. Moderator to sprawdzi.",
  flagWithdrawn: "Twoje zgłoszenie zostało wycofane.",
  own_comment: "Nie możesz zgłosić własnego komentarza.",
};
