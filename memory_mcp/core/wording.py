"""The headings of wiki pages that we write ourselves, in the language of the wiki.

`curation.language` chooses: German where it is German, else English. Names of folders are the same
in every language, so that a reference means the same page for everyone.
"""

from __future__ import annotations

from dataclasses import dataclass

FOLDERS = ("people", "threads", "places")
"""The folders that a new wiki has."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """What belongs in a folder of the wiki: a title, and a few plain sentences."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Wording:
    """One language. Headings come without their `#`."""

    timeline: str
    """Section of a page with older statements, each with its date."""
    sources: str
    """Section or key: where the statements of a page come from."""
    index: str
    """Title of the page that lists all."""
    log: str
    """Title of the monthly record of changes; the month follows."""
    decisions: str
    state: str
    active: str
    check: str
    """The four sections of the index."""
    observations: str
    """Section with single facts that came from elsewhere."""
    shelves: dict[str, Shelf]
    """By folder, those of `FOLDERS`."""


ENGLISH = Wording(
    timeline="Timeline",
    sources="Sources",
    index="Index",
    log="Log",
    decisions="Key decisions",
    state="Project state",
    active="Active entities",
    check="What to check",
    observations="Observations",
    shelves={
        "people": Shelf(
            "People",
            "One page for each person, family, company or team: who they are, how they are"
            " related to others, what they like, what was agreed with them. The page is named"
            " after them, such as `people/alice-moreau`. What is true of a person stands here"
            " once; other pages link to it.",
        ),
        "threads": Shelf(
            "Threads",
            "One page for each matter that goes on for a while: a project, a plan, a problem, a"
            " habit. It says how things stand now, what was decided and why, and what is open;"
            " what is over moves to a timeline at the end. The page is named after the matter,"
            " such as `threads/kitchen-renovation`.",
        ),
        "places": Shelf(
            "Places",
            "One page for each place, house, room, machine or system that is spoken of again and"
            " again: where it is, what is in it, how it is used, what to look out for. The page is"
            " named after the place, such as `places/summer-house`.",
        ),
    },
)

GERMAN = Wording(
    timeline="Verlauf",
    sources="Quellen",
    index="Übersicht",
    log="Protokoll",
    decisions="Wichtige Entscheidungen",
    state="Stand der Projekte",
    active="Personen, Vorhaben und Orte",
    check="Zu prüfen",
    observations="Beobachtungen",
    shelves={
        "people": Shelf(
            "Personen",
            "Eine Seite für jede Person, Familie, Firma oder Gruppe: wer sie ist, wie sie zu"
            " anderen steht, was sie mag, was mit ihr vereinbart ist. Die Seite heißt wie sie,"
            " etwa `people/alice-moreau`. Was für eine Person gilt, steht hier ein einziges Mal;"
            " andere Seiten verweisen darauf.",
        ),
        "threads": Shelf(
            "Vorhaben",
            "Eine Seite für alles, was eine Weile dauert: ein Projekt, ein Plan, ein Problem, eine"
            " Gewohnheit. Sie sagt, wie es jetzt steht, was warum entschieden ist und was offen"
            " ist; was vorbei ist, kommt am Ende in den Verlauf. Die Seite heißt wie die Sache,"
            " etwa `threads/kueche-umbauen`.",
        ),
        "places": Shelf(
            "Orte",
            "Eine Seite für jeden Ort, jedes Haus, jeden Raum, jedes Gerät und jede Anlage, von"
            " denen öfter die Rede ist: wo sie sind, was darin ist, wie man sie benutzt, worauf zu"
            " achten ist. Die Seite heißt wie der Ort, etwa `places/ferienhaus`.",
        ),
    },
)


def wording(language: str) -> Wording:
    """The words for a language code such as `en`, `de` or `de-AT`."""
    return GERMAN if language.strip().lower().split("-")[0] == "de" else ENGLISH
