// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} новая запись",
  "posts.few": "{n} новые записи",
  "posts.many": "{n} новых записей",
  "posts.other": "{n} новой записи",
  news: "Новости",
  wall: "Записи",
  wallOf: "Записи: {name}",
  incoming: "Для вас",
  activity: "Активность",
  limited: "для кругов",
  signInFeed: "Войдите, чтобы читать новости",
  nothing: "Здесь ещё ничего не опубликовано.",
  photo: "Фото: {name}",
  at: "Место: {place}",
  unknown_post: "Этой записи больше нет, или она не для вас.",
  unknown_user: "Здесь нет никого с таким именем.",
};
