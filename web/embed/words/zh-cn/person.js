// @ts-check
// Not yet read by a native speaker.
export default {
  block: "屏蔽",
  unblock: "取消屏蔽",
  blocked: "你已屏蔽 {name}。",
  unblocked: "已取消屏蔽 {name}。",
  show: "显示",
  close: "关闭",
  since: "首次评论：{date}",
  countsOf: "可见：{visible}，待审核：{pending}，已拒绝：{rejected}，垃圾：{spam}",
  latest: "其他评论",
  blockedPeople: "你屏蔽的人",
  nobodyBlocked: "你没有屏蔽任何人。",
  too_many_blocked: "你在这里不能再屏蔽更多人。",
};
