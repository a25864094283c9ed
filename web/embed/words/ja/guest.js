// @ts-check
// Not yet read by a native speaker.
export default {
  guestName: "名前",
  guestEmail: "メールアドレス",
  guestGoesOn: "続ける",
  guestBack: "戻る",
  guestMailed: "{email} にメールを送りました。メール内のリンクを開くと、コメントが表示されます。",
  guestSignIn: "以前ここに書いたことがある",
  guestSent: "このアドレスが登録されている場合は、{email} にメールを送りました。リンクからこのページに戻れます。",
  guestIsYou: "{name} として書きますか？",
  guestYes: "はい",
  guestNo: "いいえ",
  unknown_link: "このリンクは使用済みか、期限切れです。",
  guestUnreachable: "このアドレスにはメールを送れません。別のアドレスを選んでください。",
  mail_off: "このサイトは現在メールを送信していません。",
  name_taken: "この名前はここで他の人が使っています。別の名前を選んでください。",
  guests_off: "このサイトではアカウントなしの書き込みはできなくなりました。",
  invalid_request: "この名前は使えません。別の名前を選んでください。",
};
