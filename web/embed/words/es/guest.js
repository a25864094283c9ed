// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Escribir sin cuenta",
  guestName: "Tu nombre",
  guestGoesOn: "Continuar",
  guestBack: "Volver",
  name_taken: "Otra persona ya tiene este nombre aquí. Elige otro.",
  guests_off: "Este sitio ya no permite escribir sin cuenta.",
  invalid_request: "Este nombre no se puede usar. Elige otro.",
};
