// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "Seu nome",
  guestEmail: "Seu e-mail",
  guestGoesOn: "Continuar",
  guestBack: "Voltar",
  guestMailed: "Enviamos uma mensagem para {email}. Seus comentários aparecem quando você abrir o link dela.",
  guestSignIn: "Já escrevi aqui antes",
  guestSent: "Se este endereço for conhecido aqui, uma mensagem vai para {email}. O link dela traz de volta a esta página.",
  guestIsYou: "Escrever como {name}?",
  guestYes: "Sim",
  guestNo: "Não",
  unknown_link: "Este link já foi usado ou é antigo demais.",
  guestUnreachable: "Nenhuma mensagem pode ir para este endereço. Escolha outro.",
  mail_off: "Este site não envia mensagens no momento.",
  name_taken: "Outra pessoa já tem este nome aqui. Escolha outro.",
  guests_off: "Este site não permite mais escrever sem conta.",
  invalid_request: "Este nome não pode ser usado. Escolha outro.",
};
