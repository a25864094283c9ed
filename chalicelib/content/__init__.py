"""What a site publishes: pages, posts and photos, written, made live at an instant, and read."""
