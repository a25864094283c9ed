"""The content of a site: drafts, publication at an instant, and reading."""
