// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} новий допис",
  "posts.few": "{n} нові дописи",
  "posts.many": "{n} нових дописів",
  "posts.other": "{n} нового допису",
  news: "Новини",
  wall: "Дописи",
  wallOf: "Дописи: {name}",
  incoming: "Для вас",
  activity: "Активність",
  limited: "для кіл",
  signInFeed: "Увійдіть, щоб читати новини",
  nothing: "Тут ще нічого не опубліковано.",
  photo: "Світлина: {name}",
  at: "Місце: {place}",
  unknown_post: "Цього допису більше немає, або він не для вас.",
  unknown_user: "Тут немає нікого з таким іменем.",
};
