// @ts-check
// What a feed says in English.
export default {
  "posts.one": "{n} new post",
  "posts.other": "{n} new posts",
  news: "News",
  wall: "Posts",
  wallOf: "Posts of {name}",
  incoming: "For you",
  activity: "Activity",
  limited: "for circles",
  signInFeed: "Sign in to read your news",
  nothing: "Nothing has been posted here yet.",
  photo: "Picture by {name}",
  at: "At: {place}",
  unknown_post: "This post is no longer there, or not for you.",
  unknown_user: "There is nobody of this name here.",
};
