// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "No has iniciado sesión.",
  provider_failed: "El inicio de sesión no ha funcionado. Inténtalo de nuevo en un momento.",
  unknown_provider: "Este sitio ya no ofrece este inicio de sesión.",
  takeAlong: "Sí, con lo que escribí como {names}",
  person_taken: "Lo que escribió ese invitado pertenece a otra cuenta.",
};
