// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Bloquear",
  unblock: "Desbloquear",
  blocked: "Has bloqueado a {name}.",
  unblocked: "{name} ya no está en tu lista de bloqueos.",
  show: "Mostrar",
  close: "Cerrar",
  since: "Primer comentario: {date}",
  countsOf: "Visibles: {visible}. En espera: {pending}. Rechazados: {rejected}. Spam: {spam}.",
  latest: "Otros comentarios",
  blockedPeople: "Personas que has bloqueado",
  nobodyBlocked: "No has bloqueado a nadie.",
  too_many_blocked: "Aquí no puedes bloquear a más personas.",
};
