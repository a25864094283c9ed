// @ts-check
// Not yet read by a native speaker.
export default {
  flagWhy: "为什么要让管理员看到它？",
  flag_spam: "垃圾信息或广告",
  flag_abuse: "侮辱或威胁",
  flag_off_topic: "偏离主题",
  flag_personal_data: "个人信息",
  flag_other: "其他",
  flagNote: "给管理员的备注（可选）",
  flagSend: "发送举报",
  flagBack: "撤回举报",
  reported: "已举报",
  flagged: "谢谢。管理员会查看。",
  flagWithdrawn: "你的举报已撤回。",
  own_comment: "你不能举报自己的评论。",
};
