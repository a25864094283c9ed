// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "Głosuj za tym komentarzem",
  voteAgainst: "Głosuj przeciw temu komentarzowi",
  reactToPage: "Co sądzisz o tej stronie?",
  addReaction: "Dodaj reakcję",
  signInToMark: "Zaloguj się, aby głosować i reagować",
  waitsOffline: "Brak połączenia. Twój wybór zostanie wysłany, gdy tylko wróci.",
  tooManyMarks: "To było szybciej, niż tu wolno. Poczekaj chwilę.",
  own_comment: "Nie możesz głosować na własny komentarz.",
  not_enabled: "Tutaj jest to wyłączone.",
  unknown_reaction: "Ta reakcja nie jest już dostępna. Wczytaj stronę ponownie.",
  too_many_reactions: "Więcej reakcji nie można dodać. Najpierw jedną cofnij.",
};
