// @ts-check
// Not yet read by a native speaker.
export default {
  signInBy: "{name} でログイン",
  access_denied: "ログインしていません。",
  provider_failed: "ログインできませんでした。少ししてからもう一度お試しください。",
  unknown_provider: "このサイトでは、このログイン方法は使えなくなりました。",
};
