"""Whether duplicates are noticed, and new facts never taken for them."""
