"""Lucid: the wiki is looked through, and what is wrong with it is told."""
