// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} nuovo post",
  "posts.many": "{n} di nuovi post",
  "posts.other": "{n} nuovi post",
  news: "Novità",
  wall: "Post",
  wallOf: "Post di {name}",
  incoming: "Per te",
  activity: "Attività",
  limited: "per cerchie",
  signInFeed: "Accedi per leggere le tue novità",
  nothing: "Qui non è stato ancora pubblicato nulla.",
  photo: "Immagine di {name}",
  at: "Luogo: {place}",
  unknown_post: "Questo post non c’è più, o non è per te.",
  unknown_user: "Qui non c’è nessuno con questo nome.",
};
