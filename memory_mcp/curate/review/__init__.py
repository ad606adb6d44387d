"""Findings, decisions on them, and the reviews in which a session may change the wiki."""
