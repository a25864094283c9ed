// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Сповіщення в цьому браузері",
  push_on: "Сповіщення надходять у цей браузер і без відкритої сторінки.",
  push_off_here: "Сповіщення надходять у цей браузер, лише поки відкрита сторінка.",
  push_denied: "Ви заблокували сповіщення цієї сторінки. Спершу дозвольте їх у налаштуваннях браузера.",
  push_unsupported: "Цей браузер не показує сповіщень сторінок.",
  pushSwitchOn: "Увімкнути",
  pushSwitchOff: "Вимкнути",
  pushBack: "Назад",
  pushFailed: "Браузер відмовив: {reason}",
  push_off: "Звідси не надсилаються push-повідомлення.",
  unknown_push_service: "Plaza нічого не надсилає до push-служби цього браузера.",
};
