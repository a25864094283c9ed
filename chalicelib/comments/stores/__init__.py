"""The storage designs of comments, one module each."""
