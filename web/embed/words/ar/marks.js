// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "صوّت لهذا التعليق",
  voteAgainst: "صوّت ضد هذا التعليق",
  reactToPage: "ما رأيك في هذه الصفحة؟",
  addReaction: "أضف تفاعلاً",
  signInToMark: "سجّل الدخول للتصويت والتفاعل",
  waitsOffline: "لا يوجد اتصال. سيُرسل اختيارك فور عودته.",
  tooManyMarks: "كان ذلك أسرع مما هو مسموح هنا. انتظر لحظة.",
  own_comment: "لا يمكنك التصويت على تعليقك.",
  not_enabled: "هذه الميزة معطّلة هنا.",
  unknown_reaction: "لم يعد هذا التفاعل متاحاً. أعد تحميل الصفحة.",
  too_many_reactions: "لا يمكن إضافة تفاعلات أخرى. تراجع عن أحدها أولاً.",
};
