// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} commentaire",
  "count.many": "{n} de commentaires",
  "count.other": "{n} commentaires",
  edited: "modifié",
  more: "Afficher plus",
  retry: "Réessayer",
  failed: "Cela n’a pas fonctionné : {reason}",
  offline: "Plaza est injoignable.",
  unavailable: "Plaza n’est pas disponible pour le moment. Réessayez dans un instant.",
  internal: "Une erreur s’est produite dans Plaza. Réessayez dans un instant.",
  bad_id: "Cette page est mal configurée : « {id} » n’est pas un identifiant.",
  sign_in_failed: "Impossible de vérifier votre connexion pour le moment.",
  unauthenticated: "Votre session a expiré. Reconnectez-vous ; votre texte est conservé.",
  forbidden: "Vous n’avez pas le droit de faire cela.",
  unknown_comment: "Ce commentaire n’existe plus.",
  gone: "Ce commentaire a été supprimé.",
  confirm: "Supprimer ce commentaire ?",
  edit_window_over: "Ce commentaire ne peut plus être modifié.",
  invalid_cursor: "La liste a changé. Rechargez la page.",
};
