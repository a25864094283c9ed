// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "Tu nombre",
  guestEmail: "Tu correo electrónico",
  guestGoesOn: "Continuar",
  guestBack: "Volver",
  guestMailed: "Hemos enviado un mensaje a {email}. Tus comentarios se mostrarán cuando hayas abierto su enlace.",
  guestSignIn: "Ya he escrito aquí",
  guestSent: "Si esta dirección se conoce aquí, un mensaje va a {email}. Su enlace lleva de vuelta a esta página.",
  guestIsYou: "¿Escribir como {name}?",
  guestYes: "Sí",
  guestNo: "No",
  unknown_link: "Este enlace ya se ha usado o es demasiado antiguo.",
  guestUnreachable: "No se puede enviar un mensaje a esta dirección. Elige otra.",
  mail_off: "Este sitio no envía mensajes por ahora.",
  name_taken: "Otra persona ya tiene este nombre aquí. Elige otro.",
  guests_off: "Este sitio ya no permite escribir sin cuenta.",
  invalid_request: "Este nombre no se puede usar. Elige otro.",
};
