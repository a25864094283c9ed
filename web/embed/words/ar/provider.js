// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "لم تسجّل الدخول.",
  provider_failed: "لم ينجح تسجيل الدخول. حاول مرة أخرى بعد قليل.",
  unknown_provider: "لم يعد هذا الموقع يتيح تسجيل الدخول هذا.",
  takeAlong: "نعم، مع ما كتبته باسم {names}",
  person_taken: "ما كتبه هذا الضيف يخص حسابًا آخر.",
};
