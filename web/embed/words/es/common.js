// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} comentario",
  "count.many": "{n} de comentarios",
  "count.other": "{n} comentarios",
  edited: "editado",
  more: "Mostrar más",
  retry: "Reintentar",
  failed: "No ha funcionado: {reason}",
  offline: "No se puede acceder a Plaza.",
  unavailable: "Plaza no está disponible ahora mismo. Inténtalo de nuevo en un momento.",
  internal: "Algo ha fallado en Plaza. Inténtalo de nuevo en un momento.",
  bad_id: "Esta página está mal configurada: «{id}» no es un identificador.",
  sign_in_failed: "Ahora no se puede comprobar tu sesión.",
  unauthenticated: "Tu sesión ha caducado. Vuelve a iniciarla; tu texto se conserva.",
  forbidden: "No tienes permiso para hacer esto.",
  unknown_comment: "Este comentario ya no existe.",
  gone: "Este comentario se ha eliminado.",
  confirm: "¿Eliminar este comentario?",
  edit_window_over: "Este comentario ya no se puede modificar.",
  invalid_cursor: "La lista ha cambiado. Vuelve a cargar la página.",
};
