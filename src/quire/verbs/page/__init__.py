"""What the local page shows and does."""
