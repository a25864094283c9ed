// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "لماذا يجب أن يراه المشرفون؟",
  flag_spam: "رسائل مزعجة أو إعلان",
  flag_abuse: "إهانة أو تهديد",
  flag_off_topic: "خارج الموضوع",
  flag_personal_data: "بيانات شخصية",
  flag_other: "سبب آخر",
  flagNote: "ملاحظة للمشرفين إن أردت",
  flagSend: "إرسال البلاغ",
  flagBack: "سحب البلاغ",
  reported: "تم الإبلاغ",
  flagged: "شكرًا. سينظر فيه أحد المشرفين.",
  flagWithdrawn: "سُحب بلاغك.",
  own_comment: "لا يمكنك الإبلاغ عن تعليقك.",
};
