"""The meeting place of features: complete lists over all of them, and adapters between them."""
