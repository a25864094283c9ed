// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "Twoja nazwa",
  guestEmail: "Twój adres e-mail",
  guestGoesOn: "Dalej",
  guestBack: "Wróć",
  guestMailed: "Wysłaliśmy wiadomość na {email}. Twoje komentarze pojawią się, gdy otworzysz jej odnośnik.",
  guestSignIn: "Już tu pisałem lub pisałam",
  guestSent: "Jeśli ten adres jest tu znany, wiadomość trafi na {email}. Jej odnośnik prowadzi z powrotem na tę stronę.",
  guestIsYou: "Pisać jako {name}?",
  guestYes: "Tak",
  guestNo: "Nie",
  unknown_link: "Ten odnośnik został już użyty lub jest za stary.",
  guestUnreachable: "Na ten adres nie można wysłać wiadomości. Wybierz inny.",
  mail_off: "Ta strona nie wysyła teraz wiadomości.",
  name_taken: "Ktoś tutaj ma już tę nazwę. Wybierz inną.",
  guests_off: "Na tej stronie nie można już pisać bez konta.",
  invalid_request: "Tej nazwy nie można użyć. Wybierz inną.",
};
