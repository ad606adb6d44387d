"""Jobs: noted durably, done once, behind, and begun by the clock."""
