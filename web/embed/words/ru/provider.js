// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Вы не вошли.",
  provider_failed: "Войти не удалось. Попробуйте ещё раз чуть позже.",
  unknown_provider: "Этот сайт больше не предлагает такой вход.",
  takeAlong: "Да, вместе с тем, что написано под именем {names}",
  person_taken: "Написанное этим гостем принадлежит другой учётной записи.",
};
