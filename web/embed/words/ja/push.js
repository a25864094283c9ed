// @ts-check
// Not yet read by a native speaker.
export default {
  pushTitle: "このブラウザーでの通知",
  push_on: "ページを開いていなくても、このブラウザーに通知が届きます。",
  push_off_here: "このブラウザーには、ページを開いている間だけ通知が届きます。",
  push_denied: "このページの通知はブロックされています。先にブラウザーの設定で許可してください。",
  push_unsupported: "このブラウザーはページの通知を表示しません。",
  pushSwitchOn: "オンにする",
  pushSwitchOff: "オフにする",
  pushBack: "戻る",
  pushFailed: "ブラウザーに拒否されました：{reason}",
  push_off: "ここからはプッシュ通知を送信しません。",
  unknown_push_service: "Plazaはこのブラウザーのプッシュサービスには送信しません。",
};
