// @ts-check
// Not yet read by a native speaker.
export default {
  post: "Publicar",
  save: "Salvar",
  cancel: "Cancelar",
  preview: "Pré-visualizar",
  left: "Caracteres restantes: {count}",
  over: "Caracteres a mais: {count}",
  edit: "Editar",
  delete: "Excluir",
  replyTo: "Resposta a {name}",
  posted: "Publicado.",
  too_fast: "Você está escrevendo mais rápido do que é permitido aqui. Espere um momento.",
  body_too_large: "Este texto é longo demais.",
  invalid_request: "Este texto não pode ser publicado como está.",
  invalid_json: "Este texto não pode ser publicado como está.",
  unsupported_media_type: "Este texto não pode ser publicado como está.",
  request_in_progress: "Seu texto ainda está sendo publicado. Espere um momento.",
  idempotency_key_reused: "Outro texto já foi publicado. Altere o seu e tente de novo.",
  sending: "Enviando…",
  canSend: "Agora você pode enviar.",
  kept: "Seu texto continua aqui.",
};
