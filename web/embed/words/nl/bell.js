// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Meldingen: {n} nieuwe",
  "unseen.other": "Meldingen: {n} nieuwe",
  notifications: "Meldingen",
  unseenMost: "Meldingen: meer dan 99 nieuwe",
  unread: "ongelezen",
  reply: "{name} heeft je geantwoord",
  mention: "{name} heeft je genoemd",
  watched: "Nieuwe reacties in een discussie die je volgt: {name}",
  follow: "Nieuwe volgers: {name}",
  comment: "Reacties onder je bericht: {name}",
  reaction: "Waarderingen voor je bericht: {name}",
  wall: "Een bericht op je prikbord: {name}",
  paid: "Je bestelling is betaald",
  shipped: "Je bestelling is onderweg",
  cancelled: "Je bestelling eindigde zonder betaling",
  refunded: "Geld van je bestelling komt terug",
  readAll: "Alles als gelezen markeren",
  byMail: "Per e-mail",
  noneYet: "Nog niets: hier staan antwoorden op je reacties en reacties die je noemen.",
  too_fast: "Dat ging sneller dan hier mag. Wacht even.",
};
