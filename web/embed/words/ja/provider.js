// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "ログインしていません。",
  provider_failed: "ログインできませんでした。少ししてからもう一度お試しください。",
  unknown_provider: "このサイトでは、このログイン方法は使えなくなりました。",
  takeAlong: "はい（{names} として書いたものも引き継ぐ）",
  person_taken: "このゲストの投稿は、別のアカウントのものです。",
};
