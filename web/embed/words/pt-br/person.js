// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Bloquear",
  unblock: "Desbloquear",
  blocked: "Você bloqueou {name}.",
  unblocked: "Você não bloqueia mais {name}.",
  show: "Mostrar",
  close: "Fechar",
  since: "Primeiro comentário: {date}",
  countsOf: "Visíveis: {visible}. Em espera: {pending}. Recusados: {rejected}. Spam: {spam}.",
  latest: "Outros comentários",
  blockedPeople: "Pessoas que você bloqueou",
  nobodyBlocked: "Você não bloqueou ninguém.",
  too_many_blocked: "Você não pode bloquear mais pessoas aqui.",
};
