// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Заблокувати",
  unblock: "Розблокувати",
  blocked: "Заблоковано: {name}.",
  unblocked: "Розблоковано: {name}.",
  show: "Показати",
  close: "Закрити",
  since: "Перший коментар: {date}",
  countsOf: "Видимі: {visible}. Очікують: {pending}. Відхилені: {rejected}. Спам: {spam}.",
  latest: "Інші коментарі",
  blockedPeople: "Кого ви заблокували",
  nobodyBlocked: "Ви нікого не заблокували.",
  too_many_blocked: "Тут не можна заблокувати більше людей.",
};
