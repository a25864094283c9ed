// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} nowy wpis",
  "posts.few": "{n} nowe wpisy",
  "posts.many": "{n} nowych wpisów",
  "posts.other": "{n} nowego wpisu",
  news: "Aktualności",
  wall: "Wpisy",
  wallOf: "Wpisy: {name}",
  incoming: "Dla ciebie",
  activity: "Aktywność",
  limited: "dla kręgów",
  signInFeed: "Zaloguj się, aby czytać aktualności",
  nothing: "Nic tu jeszcze nie opublikowano.",
  photo: "Zdjęcie: {name}",
  at: "Miejsce: {place}",
  unknown_post: "Tego wpisu już nie ma albo nie jest dla ciebie.",
  unknown_user: "Nie ma tu nikogo o tej nazwie.",
};
