"""How a model that nobody has measured shows what its cosines mean: by questions with answers.

Models differ: unrelated texts have a cosine of .05 for one and .75 for another. A dozen questions
and answers about different things, embedded once at load, give both ends of the scale.
"""

from __future__ import annotations

import numpy as np

from memory_mcp.core.band import Band
from memory_mcp.core.ports import Vectors

PAIRS = (
    ("Where is the spare key?", "The spare key hangs in the shed, behind the saw."),
    ("When does the dentist open?", "Dr Lund's practice opens at eight, on Fridays at nine."),
    (
        "How do I restart the web server?",
        "Restart nginx with systemctl restart nginx on the host alder.",
    ),
    ("What does the cat eat?", "Minka gets dry food in the morning and half a tin at night."),
    (
        "Who repairs our roof?",
        "Karl Huber fixed the tiles after the storm and will come again in May.",
    ),
    (
        "What was decided about the budget?",
        "The board agreed to cut travel by a tenth and to hire nobody before summer.",
    ),
    (
        "How long does the bread bake?",
        "Bake the loaf for forty minutes at 220 degrees, without the lid for the last ten.",
    ),
    (
        "Which train goes to the sea?",
        "The regional express to Norddeich leaves from platform 3 every two hours.",
    ),
    (
        "What is my insurance number?",
        "Health insurance: member A 331 208 775, the card is in the blue wallet.",
    ),
    (
        "Why did the last release fail?",
        "Version 2.4 broke logins because the session table had not been migrated.",
    ),
    (
        "Which book did Ana lend me?",
        "Borrowed from Ana: a novel about lighthouse keepers, due back in March.",
    ),
    (
        "When should the tomatoes be planted?",
        "Tomatoes go outside after the last frost, about the middle of May.",
    ),
)
QUESTIONS = tuple(question for question, _ in PAIRS)
ANSWERS = tuple(answer for _, answer in PAIRS)
_LEAST = 0.02  # between the two ends; a model that tells less apart says nothing here


def band(questions: Vectors, answers: Vectors) -> Band | None:
    """The band of a model by its vectors of QUESTIONS and ANSWERS; None where it does not tell
    them apart."""
    cosines = questions @ answers.T
    same = np.eye(len(cosines), dtype=bool)
    own, foreign = float(cosines[same].mean()), float(cosines[~same].mean())
    return Band(foreign, own) if own - foreign >= _LEAST else None
