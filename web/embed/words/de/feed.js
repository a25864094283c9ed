// @ts-check
// What a feed says in German.
export default {
  "posts.one": "{n} neuer Beitrag",
  "posts.other": "{n} neue Beiträge",
  news: "Neues",
  wall: "Beiträge",
  wallOf: "Beiträge von {name}",
  incoming: "Für dich",
  activity: "Aktivität",
  limited: "für Kreise",
  signInFeed: "Anmelden, um Neues zu lesen",
  nothing: "Hier wurde noch nichts geschrieben.",
  photo: "Bild von {name}",
  at: "Ort: {place}",
  unknown_post: "Diesen Beitrag gibt es nicht mehr, oder er ist nicht für dich.",
  unknown_user: "Hier gibt es niemanden mit diesem Namen.",
};
