// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} nieuw bericht",
  "posts.other": "{n} nieuwe berichten",
  news: "Nieuws",
  wall: "Berichten",
  wallOf: "Berichten van {name}",
  incoming: "Voor jou",
  activity: "Activiteit",
  limited: "voor kringen",
  signInFeed: "Meld je aan om je nieuws te lezen",
  nothing: "Hier is nog niets geplaatst.",
  photo: "Afbeelding van {name}",
  at: "Plaats: {place}",
  unknown_post: "Dit bericht is er niet meer, of is niet voor jou.",
  unknown_user: "Er is hier niemand met deze naam.",
};
