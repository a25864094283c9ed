// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} publicación nueva",
  "posts.many": "{n} de publicaciones nuevas",
  "posts.other": "{n} publicaciones nuevas",
  news: "Novedades",
  wall: "Publicaciones",
  wallOf: "Publicaciones de {name}",
  incoming: "Para ti",
  activity: "Actividad",
  limited: "para círculos",
  signInFeed: "Inicia sesión para leer tus novedades",
  nothing: "Aquí aún no se ha publicado nada.",
  photo: "Imagen de {name}",
  at: "Lugar: {place}",
  unknown_post: "Esta publicación ya no existe o no es para ti.",
  unknown_user: "No hay nadie con este nombre aquí.",
};
