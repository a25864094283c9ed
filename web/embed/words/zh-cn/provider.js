// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "您尚未登录。",
  provider_failed: "登录未成功，请稍后再试。",
  unknown_provider: "本站不再提供此登录方式。",
  takeAlong: "是，并带上我以 {names} 的名义写的内容",
  person_taken: "这位访客写的内容属于另一个账号。",
};
