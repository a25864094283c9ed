// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Уведомления в этом браузере",
  push_on: "Уведомления приходят в этот браузер и без открытой страницы.",
  push_off_here: "Уведомления приходят в этот браузер, только пока открыта страница.",
  push_denied: "Вы заблокировали уведомления этой страницы. Сначала разрешите их в настройках браузера.",
  push_unsupported: "Этот браузер не показывает уведомлений страниц.",
  pushSwitchOn: "Включить",
  pushSwitchOff: "Выключить",
  pushBack: "Назад",
  pushFailed: "Браузер отказал: {reason}",
  push_off: "Отсюда не отправляются push-сообщения.",
  unknown_push_service: "Plaza ничего не отправляет в push-службу этого браузера.",
};
