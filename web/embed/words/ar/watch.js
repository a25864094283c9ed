// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "أشعرني بـ",
  watch_normal: "الردود والإشارات إليّ",
  watch_watching: "كل تعليق",
  watch_muted: "الإشارات إليّ فقط",
  watchSaved: "تم الحفظ.",
  too_many_watches: "أنت تتابع أو تكتم ‎1,000‎ نقاش بالفعل.",
  too_fast: "كان ذلك أسرع مما هو مسموح. انتظر لحظة.",
};
