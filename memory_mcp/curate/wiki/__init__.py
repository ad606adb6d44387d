"""What the wiki says of itself: names of pages, its log, its index, what was replaced."""
