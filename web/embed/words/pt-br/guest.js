// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Escrever sem conta",
  guestName: "Seu nome",
  guestGoesOn: "Continuar",
  guestBack: "Voltar",
  name_taken: "Outra pessoa já tem este nome aqui. Escolha outro.",
  guests_off: "Este site não permite mais escrever sem conta.",
  invalid_request: "Este nome não pode ser usado. Escolha outro.",
};
