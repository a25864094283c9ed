// @ts-check
// Not yet read by a native speaker.
export default {
  block: "ブロックする",
  unblock: "ブロックを解除",
  blocked: "{name} をブロックしました。",
  unblocked: "{name} のブロックを解除しました。",
  show: "表示",
  close: "閉じる",
  since: "最初のコメント: {date}",
  countsOf: "公開: {visible}、承認待ち: {pending}、却下: {rejected}、スパム: {spam}",
  latest: "ほかのコメント",
  blockedPeople: "ブロックした人",
  nobodyBlocked: "誰もブロックしていません。",
  too_many_blocked: "ここではこれ以上ブロックできません。",
};
