"""The activity feed: what people did, ranked for each reader by what concerns the reader."""
