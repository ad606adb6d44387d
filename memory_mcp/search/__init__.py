"""Finding and reading. Never writes."""
