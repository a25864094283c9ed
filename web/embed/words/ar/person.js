// @ts-check
// Not yet read by a native speaker.
export default {
  block: "حظر",
  unblock: "إلغاء الحظر",
  blocked: "لقد حظرت {name}.",
  unblocked: "لم يعد {name} محظورًا.",
  show: "إظهار",
  close: "إغلاق",
  since: "أول تعليق: {date}",
  countsOf: "ظاهرة: {visible}. قيد الانتظار: {pending}. مرفوضة: {rejected}. مزعجة: {spam}.",
  latest: "تعليقات أخرى",
  blockedPeople: "من حظرتهم",
  nobodyBlocked: "لم تحظر أحدًا.",
  too_many_blocked: "لا يمكنك حظر مزيد من الأشخاص هنا.",
};
