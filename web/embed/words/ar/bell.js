// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "الإشعارات: إشعار جديد واحد",
  "unseen.zero": "الإشعارات: لا جديد",
  "unseen.two": "الإشعارات: إشعاران جديدان",
  "unseen.few": "الإشعارات: {n} إشعارات جديدة",
  "unseen.many": "الإشعارات: {n} إشعارًا جديدًا",
  "unseen.other": "الإشعارات: {n} إشعار جديد",
  notifications: "الإشعارات",
  unseenMost: "الإشعارات: أكثر من 99 إشعارًا جديدًا",
  unread: "غير مقروء",
  reply: "رد عليك {name}",
  mention: "أشار إليك {name}",
  watched: "تعليقات جديدة في نقاش تتابعه: {name}",
  follow: "متابعون جدد: {name}",
  comment: "تعليقات على منشورك: {name}",
  reaction: "تفاعلات مع منشورك: {name}",
  wall: "منشور على حائطك: {name}",
  readAll: "تحديد الكل كمقروء",
  byMail: "بالبريد",
  noneYet: "لا شيء بعد: تظهر هنا الردود على تعليقاتك والتعليقات التي تشير إليك.",
  too_fast: "كان ذلك أسرع مما هو مسموح. انتظر لحظة.",
};
