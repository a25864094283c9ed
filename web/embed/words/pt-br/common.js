// @ts-check
// Not yet read by a native speaker.
export default {
  "count.one": "{n} comentário",
  "count.many": "{n} de comentários",
  "count.other": "{n} comentários",
  edited: "editado",
  more: "Mostrar mais",
  retry: "Tentar de novo",
  failed: "Não funcionou: {reason}",
  offline: "Não foi possível acessar o Plaza.",
  unavailable: "O Plaza não está disponível agora. Tente de novo daqui a pouco.",
  internal: "Algo deu errado no Plaza. Tente de novo daqui a pouco.",
  bad_id: "Esta página está mal configurada: “{id}” não é um identificador.",
  sign_in_failed: "Não é possível verificar seu login agora.",
  unauthenticated: "Sua sessão terminou. Entre de novo; seu texto continua aqui.",
  forbidden: "Você não tem permissão para fazer isso.",
  unknown_comment: "Este comentário não existe mais.",
  gone: "Este comentário foi excluído.",
  confirm: "Excluir este comentário?",
  edit_window_over: "Este comentário não pode mais ser alterado.",
  invalid_cursor: "A lista mudou. Recarregue a página.",
};
