// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Notificaciones en este navegador",
  push_on: "Tus notificaciones llegan a este navegador sin ninguna página abierta.",
  push_off_here: "Las notificaciones llegan a este navegador solo mientras hay una página abierta.",
  push_denied: "Has bloqueado las notificaciones de esta página. Permítelas primero en los ajustes del navegador.",
  push_unsupported: "Este navegador no muestra notificaciones de páginas.",
  pushSwitchOn: "Activar",
  pushSwitchOff: "Desactivar",
  pushBack: "Volver",
  pushFailed: "El navegador lo rechazó: {reason}",
  push_off: "Desde aquí no se envían mensajes push.",
  unknown_push_service: "Plaza no envía nada al servicio push de este navegador.",
};
