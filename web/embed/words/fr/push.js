// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Notifications dans ce navigateur",
  push_on: "Vos notifications arrivent dans ce navigateur sans page ouverte.",
  push_off_here: "Les notifications n’arrivent dans ce navigateur que lorsqu’une page est ouverte.",
  push_denied: "Vous avez bloqué les notifications de cette page. Autorisez-les d’abord dans les réglages du navigateur.",
  push_unsupported: "Ce navigateur n’affiche pas de notifications de pages.",
  pushSwitchOn: "Activer",
  pushSwitchOff: "Désactiver",
  pushBack: "Retour",
  pushFailed: "Le navigateur a refusé : {reason}",
  push_off: "Aucun message push n’est envoyé d’ici.",
  unknown_push_service: "Plaza n’envoie rien au service push de ce navigateur.",
};
