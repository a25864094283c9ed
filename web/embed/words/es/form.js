// @ts-check
// Not yet read by a native speaker.
export default {
  post: "Publicar",
  save: "Guardar",
  cancel: "Cancelar",
  preview: "Vista previa",
  left: "Caracteres restantes: {count}",
  over: "Caracteres de más: {count}",
  edit: "Editar",
  delete: "Eliminar",
  replyTo: "Respuesta a {name}",
  posted: "Publicado.",
  too_fast: "Escribes más rápido de lo que se permite aquí. Espera un momento.",
  body_too_large: "Este texto es demasiado largo.",
  invalid_request: "Este texto no se puede publicar tal como está.",
  invalid_json: "Este texto no se puede publicar tal como está.",
  unsupported_media_type: "Este texto no se puede publicar tal como está.",
  request_in_progress: "Tu texto se está publicando. Espera un momento.",
  idempotency_key_reused: "Ya se ha publicado otro texto. Cambia el tuyo e inténtalo de nuevo.",
  sending: "Enviando…",
  canSend: "Ya puedes enviarlo.",
  kept: "Tu texto se conserva aquí.",
};
