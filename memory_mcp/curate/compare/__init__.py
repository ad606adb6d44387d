"""What texts say: whether one says the same as another, and what is new in it."""
