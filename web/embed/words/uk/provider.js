// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Ви не ввійшли.",
  provider_failed: "Увійти не вдалося. Спробуйте ще раз трохи згодом.",
  unknown_provider: "Цей сайт більше не пропонує такий вхід.",
  takeAlong: "Так, разом із тим, що написано під ім’ям {names}",
  person_taken: "Написане цим гостем належить іншому обліковому запису.",
};
