// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "منشور جديد واحد",
  "posts.zero": "لا منشورات جديدة",
  "posts.two": "منشوران جديدان",
  "posts.few": "{n} منشورات جديدة",
  "posts.many": "{n} منشورًا جديدًا",
  "posts.other": "{n} منشور جديد",
  news: "الأخبار",
  wall: "المنشورات",
  wallOf: "منشورات {name}",
  incoming: "لك",
  activity: "النشاط",
  limited: "للدوائر",
  signInFeed: "سجّل الدخول لقراءة أخبارك",
  nothing: "لم يُنشر شيء هنا بعد.",
  photo: "صورة من {name}",
  at: "المكان: {place}",
  unknown_post: "لم يعد هذا المنشور موجودًا، أو أنه ليس لك.",
  unknown_user: "لا يوجد أحد بهذا الاسم هنا.",
};
