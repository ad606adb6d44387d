"""Tests of what is shown unasked."""
