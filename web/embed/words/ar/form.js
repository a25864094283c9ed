// @ts-check
// Not yet read by a native speaker.
export default {
  post: "نشر",
  save: "حفظ",
  cancel: "إلغاء",
  preview: "معاينة",
  left: "الأحرف المتبقية: {count}",
  over: "الأحرف الزائدة: {count}",
  edit: "تعديل",
  delete: "حذف",
  replyTo: "رد على {name}",
  posted: "تم النشر.",
  too_fast: "أنت تكتب أسرع مما هو مسموح به هنا. انتظر قليلًا.",
  body_too_large: "هذا النص طويل جدًا.",
  invalid_request: "لا يمكن نشر هذا النص كما هو.",
  invalid_json: "لا يمكن نشر هذا النص كما هو.",
  unsupported_media_type: "لا يمكن نشر هذا النص كما هو.",
  request_in_progress: "ما زال نصك قيد النشر. انتظر قليلًا.",
  idempotency_key_reused: "نُشر نص آخر من قبل. غيّر نصك وحاول مرة أخرى.",
  sending: "جارٍ الإرسال…",
  canSend: "يمكنك الإرسال الآن.",
  kept: "نصك محفوظ هنا.",
};
