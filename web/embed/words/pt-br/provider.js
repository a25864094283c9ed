// @ts-check
// Not yet read by a native speaker.
export default {
  signInBy: "Entrar com {name}",
  access_denied: "Você não entrou.",
  provider_failed: "Não foi possível entrar. Tente de novo em instantes.",
  unknown_provider: "Este site não oferece mais este login.",
};
