"""The thin end of the server: a relay between one client and the engine of a home.

Standard library only, and little of it: this is what every client starts.
"""
