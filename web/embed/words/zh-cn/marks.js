// @ts-check
// Not yet read by a native speaker.
export default {
  voteFor: "赞成这条评论",
  voteAgainst: "反对这条评论",
  reactToPage: "你觉得这个页面怎么样？",
  addReaction: "添加表情",
  signInToMark: "登录后投票和回应",
  waitsOffline: "没有网络连接。恢复后会立即发送你的选择。",
  tooManyMarks: "操作过快，超出了这里的限制。请稍候。",
  own_comment: "不能给自己的评论投票。",
  not_enabled: "这里已关闭此功能。",
  unknown_reaction: "这个表情已不再提供。请重新加载页面。",
  too_many_reactions: "不能再添加表情了。请先取消一个。",
};
