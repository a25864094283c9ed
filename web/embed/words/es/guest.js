// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Escribir sin cuenta",
  guestName: "Tu nombre",
  guestEmail: "Tu correo electrónico",
  guestGoesOn: "Continuar",
  guestBack: "Volver",
  guestMailed: "Hemos enviado un mensaje a {email}. Tus comentarios se mostrarán cuando hayas abierto su enlace.",
  guestUnreachable: "No se puede enviar un mensaje a esta dirección. Elige otra.",
  mail_off: "Este sitio no envía mensajes por ahora.",
  name_taken: "Otra persona ya tiene este nombre aquí. Elige otro.",
  guests_off: "Este sitio ya no permite escribir sin cuenta.",
  invalid_request: "Este nombre no se puede usar. Elige otro.",
};
