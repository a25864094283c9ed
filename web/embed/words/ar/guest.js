// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "الكتابة بدون حساب",
  guestName: "اسمك",
  guestGoesOn: "متابعة",
  guestBack: "رجوع",
  name_taken: "هذا الاسم مستخدم هنا. اختر اسمًا آخر.",
  guests_off: "لم يعد هذا الموقع يسمح بالكتابة بدون حساب.",
  invalid_request: "لا يمكن استخدام هذا الاسم. اختر اسمًا آخر.",
};
