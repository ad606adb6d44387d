"""Values and pure rules. No I/O, no clock."""
