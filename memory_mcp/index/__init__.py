"""Everything derived from the notes; delete it at any moment."""
