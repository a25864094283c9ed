// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Notificaciones: {n} nueva",
  "unseen.many": "Notificaciones: {n} nuevas",
  "unseen.other": "Notificaciones: {n} nuevas",
  notifications: "Notificaciones",
  unseenMost: "Notificaciones: más de 99 nuevas",
  unread: "sin leer",
  reply: "{name} te ha respondido",
  mention: "{name} te ha mencionado",
  watched: "Comentarios nuevos en una conversación que sigues: {name}",
  follow: "Nuevos seguidores: {name}",
  comment: "Comentarios en tu publicación: {name}",
  reaction: "Reacciones a tu publicación: {name}",
  wall: "Una publicación en tu muro: {name}",
  readAll: "Marcar todo como leído",
  byMail: "Por correo",
  noneYet: "Nada por ahora: aquí aparecen las respuestas a tus comentarios y los comentarios que te mencionan.",
  too_fast: "Eso fue demasiado rápido. Espera un momento.",
};
