"""Changing notes: the write tools, and jobs."""
