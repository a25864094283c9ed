// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Você não entrou.",
  provider_failed: "Não foi possível entrar. Tente de novo em instantes.",
  unknown_provider: "Este site não oferece mais este login.",
  takeAlong: "Sim, com o que escrevi como {names}",
  person_taken: "O que esse convidado escreveu pertence a outra conta.",
};
