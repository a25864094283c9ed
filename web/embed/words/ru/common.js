// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} комментарий",
  "count.few": "{n} комментария",
  "count.many": "{n} комментариев",
  "count.other": "{n} комментария",
  edited: "изменено",
  more: "Показать ещё",
  retry: "Попробовать ещё раз",
  failed: "Не получилось: {reason}",
  offline: "Нет связи с Plaza.",
  unavailable: "Plaza сейчас недоступна. Попробуйте ещё раз чуть позже.",
  internal: "В Plaza произошла ошибка. Попробуйте ещё раз чуть позже.",
  sign_in_failed: "Сейчас не удаётся проверить ваш вход.",
  unauthenticated: "Ваш сеанс закончился. Войдите снова; ваш текст сохранён.",
  forbidden: "Вам нельзя этого делать.",
  unknown_comment: "Этого комментария больше нет.",
  gone: "Этот комментарий удалён.",
  confirm: "Удалить этот комментарий?",
  edit_window_over: "Этот комментарий больше нельзя изменить.",
  invalid_cursor: "Список изменился. Обновите страницу.",
};
