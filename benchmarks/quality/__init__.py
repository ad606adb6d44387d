"""Data sets and metrics of the quality benchmark."""
