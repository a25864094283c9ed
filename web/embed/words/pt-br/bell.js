// @ts-check
// Not yet read by a native speaker.
export default {
  "unseen.one": "Notificações: {n} nova",
  "unseen.many": "Notificações: {n} novas",
  "unseen.other": "Notificações: {n} novas",
  notifications: "Notificações",
  unseenMost: "Notificações: mais de 99 novas",
  unread: "não lida",
  reply: "{name} respondeu a você",
  mention: "{name} mencionou você",
  watched: "Novos comentários em uma discussão que você acompanha: {name}",
  follow: "Novos seguidores: {name}",
  comment: "Comentários na sua publicação: {name}",
  reaction: "Reações à sua publicação: {name}",
  wall: "Uma publicação no seu mural: {name}",
  readAll: "Marcar tudo como lido",
  byMail: "Por e-mail",
  noneYet: "Nada ainda: aqui aparecem as respostas aos seus comentários e os comentários que mencionam você.",
  too_fast: "Isso foi rápido demais. Espere um momento.",
};
