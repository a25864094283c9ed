// @ts-check
// Not yet read by a native speaker.
export default {
  post: "Publier",
  save: "Enregistrer",
  cancel: "Annuler",
  preview: "Aperçu",
  left: "Caractères restants : {count}",
  over: "Caractères en trop : {count}",
  edit: "Modifier",
  delete: "Supprimer",
  replyTo: "Réponse à {name}",
  posted: "Publié.",
  too_fast: "Vous écrivez plus vite qu’il n’est permis ici. Attendez un instant.",
  body_too_large: "Ce texte est trop long.",
  invalid_request: "Ce texte ne peut pas être publié tel quel.",
  invalid_json: "Ce texte ne peut pas être publié tel quel.",
  unsupported_media_type: "Ce texte ne peut pas être publié tel quel.",
  request_in_progress: "Votre texte est en cours de publication. Attendez un instant.",
  idempotency_key_reused: "Un autre texte a déjà été publié. Modifiez le vôtre et réessayez.",
  sending: "Envoi…",
  canSend: "Vous pouvez l’envoyer maintenant.",
  kept: "Votre texte est conservé ici.",
};
