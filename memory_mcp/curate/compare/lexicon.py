"""Words by what they do in a sentence, in English and German together, as texts mix the two.

A word that is in none of these sets counts as it is. So a word that is missing here costs a
repetition that is not noticed, never a fact.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LIGHT = _set("a an the is are be it der die das ein eine ist sind es")
"""Words without which a sentence says the same."""
JOINING = _set("and und &")
"""Words between two parts of a sentence that stand for a comma."""
BINDING = _set("""
    about above after against around as at before behind below beside between beyond by down during
    except for from in inside into near of off on onto out outside over per since than through till
    to toward towards under until up upon via with within without
    ab als am an ans auf aus außer außerhalb bei beim bis durch für gegen gegenüber hinter im in
    innerhalb ins je mit nach neben ohne pro seit statt trotz über um unter vom von vor während
    wegen zu zum zur zwischen
    den dem des einen einem einer eines
    also all any both even every just never no not only some
    alle allen aller alles auch jede jeden jeder jedes kein keine keinem keinen keiner keines nicht
    nie niemals nur sogar
    if unless when whether falls ob sobald sofern solange wenn
    """)
"""Words that change what the next one does: prepositions, articles that show a case, negations,
quantities, conditions."""
OWNING = _set("of von vom des einer eines")
"""Those of them that belong to the word before, and so cannot begin a part that moves."""
OF_TIME = _set("on at am um den dem")
"""Those of them that a date or a time may go without."""
NEGATIONS = _set("""
    no not never none nobody nothing nowhere neither nor without cannot
    kein keine keinem keinen keiner keines nein nicht nichts nie niemals niemand
    nirgends ohne weder
    """)
RETRACTING = NEGATIONS | _set("""
    but however although except unless if instead until former formerly previously was were had
    wrong false cancelled canceled outdated obsolete old correction update updated doubt maybe
    aber jedoch doch obwohl sondern außer falls wenn statt stattdessen bis ehemals früher vorher
    vormals war waren wurde wurden hatte hatten falsch abgesagt veraltet alt korrektur nachtrag
    stand zweifel vielleicht
    lie joke rumour rumor draft idea example dropped rejected refused planned
    lüge scherz witz gerücht entwurf idee beispiel verworfen abgelehnt geplant
    since now meanwhile today later new changed moved
    seit ab jetzt inzwischen mittlerweile heute später neu neue neuer neues geändert umgezogen
    """)
"""Words after or before a statement that may take it back."""
ORDERED = _set(
    """
    step steps order ranking priority priorities first second then next last finally
    schritt schritte reihenfolge ablauf rangfolge priorität prioritäten zuerst erst dann danach
    zuletzt
    """
)
"""Words by which the order of a list says something."""
RELATIVE = _set(
    """
    today tomorrow yesterday tonight next ago
    heute morgen gestern vorgestern übermorgen nächste nächsten nächster nächstes
    """
)
"""Words that mean another day when they are said again."""
_NUMBERS = """
zero null
one eins
two zwei
three drei
four vier
five fünf
six sechs
seven sieben
eight acht
nine neun
ten zehn
eleven elf
twelve zwölf
"""
NUMBERS = {
    word: number
    for number, words in enumerate(_NUMBERS.strip().splitlines())
    for word in words.split()
}
_UNITS = """
m2: m² m2 m^2 qm sqm quadratmeter square_meter square_meters square_metre square_metres
m3: m³ m3 cbm kubikmeter
m: m meter metre meters metres metern
km: km kilometer kilometre kilometers kilometres kilometern
cm: cm zentimeter centimetre centimetres centimeter centimeters
mm: mm millimeter
ft: ft feet foot
eur: € eur euro euros
usd: $ usd dollar dollars
gbp: £ gbp
chf: chf franken
%: % percent prozent
°c: °c celsius
kg: kg kilo kilos kilogramm kilogram kilograms
g: g gramm gram grams
mg: mg milligramm
l: l liter litre liters litres litern
ml: ml milliliter millilitre millilitres
h: h hour hours stunde stunden
min: min minute minutes minuten
s: s sec second seconds sekunde sekunden
d: day days tag tage tagen
wk: week weeks woche wochen
mo: month months monat monate monaten
yr: year years jahr jahre jahren
kb: kb
mb: mb
gb: gb gigabyte
tb: tb terabyte
kwh: kwh
w: w watt
bar: bar
"""
UNITS = {
    spelling.replace("_", " "): line.partition(":")[0]
    for line in _UNITS.strip().splitlines()
    for spelling in line.partition(":")[2].split()
}
"""Spelling of a unit, casefolded, to the unit."""
