"""Changes that are thought out, then carried out as a run: all or nothing, and back again."""
