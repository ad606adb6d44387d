"""A tool's own change of a note: what may be written, where, and what is answered."""
