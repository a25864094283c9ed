// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} коментар",
  "count.few": "{n} коментарі",
  "count.many": "{n} коментарів",
  "count.other": "{n} коментаря",
  edited: "змінено",
  more: "Показати більше",
  retry: "Спробувати ще раз",
  failed: "Не вдалося: {reason}",
  offline: "Немає зв’язку з Plaza.",
  unavailable: "Plaza зараз недоступна. Спробуйте ще раз за мить.",
  internal: "У Plaza сталася помилка. Спробуйте ще раз за мить.",
  bad_id: "Цю сторінку налаштовано неправильно: «{id}» не є ідентифікатором.",
  sign_in_failed: "Зараз не вдається перевірити ваш вхід.",
  unauthenticated: "Ваш сеанс завершився. Увійдіть ще раз; ваш текст збережено.",
  forbidden: "Вам не можна цього робити.",
  unknown_comment: "Цього коментаря вже немає.",
  gone: "Цей коментар видалено.",
  confirm: "Видалити цей коментар?",
  edit_window_over: "Цей коментар уже не можна змінити.",
  invalid_cursor: "Список змінився. Оновіть сторінку.",
};
