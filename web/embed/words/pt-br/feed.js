// @ts-check
// Not yet read by a native speaker.
export default {
  "posts.one": "{n} nova publicação",
  "posts.many": "{n} de novas publicações",
  "posts.other": "{n} novas publicações",
  news: "Novidades",
  wall: "Publicações",
  wallOf: "Publicações de {name}",
  incoming: "Para você",
  activity: "Atividade",
  limited: "para círculos",
  signInFeed: "Entre para ler suas novidades",
  nothing: "Nada foi publicado aqui ainda.",
  photo: "Imagem de {name}",
  at: "Local: {place}",
  unknown_post: "Esta publicação não existe mais, ou não é para você.",
  unknown_user: "Não há ninguém com este nome aqui.",
};
