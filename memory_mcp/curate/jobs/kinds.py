"""The kinds of jobs, and after how long each is ended; what it had finished stays."""

from __future__ import annotations

SAVE, SAVE_SECONDS = "save", 600.0
ENRICH, ENRICH_SECONDS = "enrich", 5 * 3600.0
MOST_DAYS = 36_500
"""The oldest age of conversations that can be asked for; a hundred years."""
REM, REM_SECONDS = "dream-rem", 3600.0
DEEP, DEEP_SECONDS = "dream-deep", 4 * 3600.0
"""A pass over a full inbox takes a model a while; what is left is the next one's."""
LUCID, LUCID_SECONDS = "dream-lucid", 1800.0
IMPORT, REVIEW = "import", "review"
"""Done at once, by a person or an agent, and listed as what may be taken back."""
