"""Entering the memory into clients: their files, their formats, and the way back."""
