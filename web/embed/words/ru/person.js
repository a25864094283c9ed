// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Заблокировать",
  unblock: "Разблокировать",
  blocked: "Заблокировано: {name}.",
  unblocked: "Разблокировано: {name}.",
  show: "Показать",
  close: "Закрыть",
  since: "Первый комментарий: {date}",
  countsOf: "Видимые: {visible}. Ожидают: {pending}. Отклонённые: {rejected}. Спам: {spam}.",
  latest: "Другие комментарии",
  blockedPeople: "Кого вы заблокировали",
  nobodyBlocked: "Вы никого не заблокировали.",
  too_many_blocked: "Здесь нельзя заблокировать больше людей.",
};
