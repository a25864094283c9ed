// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} nouvelle publication",
  "posts.many": "{n} nouvelles publications",
  "posts.other": "{n} nouvelles publications",
  news: "Actualités",
  wall: "Publications",
  wallOf: "Publications de {name}",
  incoming: "Pour vous",
  activity: "Activité",
  limited: "pour des cercles",
  signInFeed: "Se connecter pour lire vos actualités",
  nothing: "Rien n’a encore été publié ici.",
  photo: "Image de {name}",
  at: "Lieu : {place}",
  unknown_post: "Cette publication n’existe plus, ou ne vous est pas destinée.",
  unknown_user: "Il n’y a personne de ce nom ici.",
};
