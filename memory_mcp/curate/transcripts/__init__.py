"""Conversations on the disk: which wait, how far they were read, what was said."""
