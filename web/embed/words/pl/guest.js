// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Pisz bez konta",
  guestName: "Twoja nazwa",
  guestEmail: "Twój adres e-mail",
  guestGoesOn: "Dalej",
  guestBack: "Wróć",
  guestMailed: "Wysłaliśmy wiadomość na {email}. Twoje komentarze pojawią się, gdy otworzysz jej odnośnik.",
  guestUnreachable: "Na ten adres nie można wysłać wiadomości. Wybierz inny.",
  mail_off: "Ta strona nie wysyła teraz wiadomości.",
  name_taken: "Ktoś tutaj ma już tę nazwę. Wybierz inną.",
  guests_off: "Na tej stronie nie można już pisać bez konta.",
  invalid_request: "Tej nazwy nie można użyć. Wybierz inną.",
};
