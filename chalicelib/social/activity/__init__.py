"""The activity feed: actions of people, ranked for each reader by the reader's ties."""
