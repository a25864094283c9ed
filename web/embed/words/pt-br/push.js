// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "Notificações neste navegador",
  push_on: "Suas notificações chegam a este navegador sem nenhuma página aberta.",
  push_off_here: "As notificações chegam a este navegador só enquanto uma página está aberta.",
  push_denied: "Você bloqueou as notificações desta página. Permita-as antes nas configurações do navegador.",
  push_unsupported: "Este navegador não mostra notificações de páginas.",
  pushSwitchOn: "Ativar",
  pushSwitchOff: "Desativar",
  pushBack: "Voltar",
  pushFailed: "O navegador recusou: {reason}",
  push_off: "Daqui não se enviam mensagens push.",
  unknown_push_service: "O Plaza não envia nada ao serviço push deste navegador.",
};
