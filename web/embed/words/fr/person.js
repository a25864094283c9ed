// @ts-check
// Not yet read by a native speaker.
export default {
  block: "Bloquer",
  unblock: "Débloquer",
  blocked: "Vous avez bloqué {name}.",
  unblocked: "Vous ne bloquez plus {name}.",
  show: "Afficher",
  close: "Fermer",
  since: "Premier commentaire : {date}",
  countsOf: "Visibles : {visible}. En attente : {pending}. Refusés : {rejected}. Spam : {spam}.",
  latest: "Autres commentaires",
  blockedPeople: "Personnes que vous avez bloquées",
  nobodyBlocked: "Vous n’avez bloqué personne.",
  too_many_blocked: "Vous ne pouvez bloquer personne de plus ici.",
};
