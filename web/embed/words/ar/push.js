// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "الإشعارات في هذا المتصفح",
  push_on: "تصل إشعاراتك إلى هذا المتصفح دون أن تكون أي صفحة مفتوحة.",
  push_off_here: "تصل الإشعارات إلى هذا المتصفح ما دامت صفحة مفتوحة فقط.",
  push_denied: "لقد حظرت إشعارات هذه الصفحة. اسمح بها أولًا في إعدادات المتصفح.",
  push_unsupported: "لا يعرض هذا المتصفح إشعارات الصفحات.",
  pushSwitchOn: "تشغيل",
  pushSwitchOff: "إيقاف",
  pushBack: "رجوع",
  pushFailed: "رفض المتصفح: {reason}",
  push_off: "لا تُرسل رسائل فورية من هنا.",
  unknown_push_service: "لا يرسل Plaza شيئًا إلى خدمة هذا المتصفح.",
};
