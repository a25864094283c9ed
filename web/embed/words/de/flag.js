// @ts-check
// What a report of a comment says in German.
export default {
  flagWhy: "Warum soll die Moderation das sehen?",
  flag_spam: "Spam oder Werbung",
  flag_abuse: "Beleidigung oder Drohung",
  flag_off_topic: "Nicht zum Thema",
  flag_personal_data: "Persönliche Daten",
  flag_other: "Etwas anderes",
  flagNote: "Eine Anmerkung für die Moderation, wenn du magst",
  flagSend: "Meldung senden",
  flagBack: "Meldung zurücknehmen",
  reported: "Gemeldet",
  flagged: "Danke. Die Moderation sieht es sich an.",
  flagWithdrawn: "Deine Meldung ist zurückgenommen.",
  own_comment: "Den eigenen Kommentar kannst du nicht melden.",
};
