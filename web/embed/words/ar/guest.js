// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "اسمك",
  guestEmail: "بريدك الإلكتروني",
  guestGoesOn: "متابعة",
  guestBack: "رجوع",
  guestMailed: "أُرسلت رسالة إلى {email}. ستظهر تعليقاتك بعد أن تفتح الرابط الذي فيها.",
  guestSignIn: "سبق أن كتبت هنا",
  guestSent: "إن كان هذا العنوان معروفًا هنا، فستصل رسالة إلى {email}. ويعيدك رابطها إلى هذه الصفحة.",
  guestIsYou: "الكتابة باسم {name}؟",
  guestYes: "نعم",
  guestNo: "لا",
  unknown_link: "استُخدم هذا الرابط من قبل أو انتهت صلاحيته.",
  guestUnreachable: "لا يمكن إرسال رسالة إلى هذا العنوان. اختر عنوانًا آخر.",
  mail_off: "لا يرسل هذا الموقع رسائل حاليًا.",
  name_taken: "هذا الاسم مستخدم هنا. اختر اسمًا آخر.",
  guests_off: "لم يعد هذا الموقع يسمح بالكتابة بدون حساب.",
  invalid_request: "لا يمكن استخدام هذا الاسم. اختر اسمًا آخر.",
};
