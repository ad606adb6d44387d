"""The only floor that opens notes: sources, files, history, scan, watch."""
