"""Made-up secrets of known formats, and ordinary text that is none. All from a seed.

Every value is drawn at random: none was ever valid. Formats are those that the issuers document.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URL64 = ALNUM + "-_"
STD64 = ALNUM + "+/"

Make = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, the kind of what it holds, and the secret in it ('' in ordinary text)."""

    kind: str
    text: str
    secret: str = ""


def _of(letters: str, length: int) -> Make:
    return lambda draw: "".join(draw.choices(letters, k=length))


def _join(*parts: str | Make) -> Make:
    return lambda draw: "".join(part if isinstance(part, str) else part(draw) for part in parts)


def _password(draw: random.Random) -> str:
    word = draw.choice(["Sommer", "tulip", "Garten", "otter", "Falke", "river", "Quarz", "maple"])
    return f"{word}{draw.choice('-_.#+')}{draw.choice(['Haus', 'blue', 'Kran', 'seven'])}" + str(
        draw.randrange(10, 9999)
    )


def _jwt(draw: random.Random) -> str:
    def part(value: dict[str, object]) -> str:
        raw = json.dumps(value, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    body: dict[str, object] = {"sub": str(draw.randrange(10**9)), "iat": 1_516_239_022}
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(body)}.{_of(URL64, 43)(draw)}"


def _block(label: str) -> Make:
    def make(draw: random.Random) -> str:
        lines = [_of(STD64, 64)(draw) for _ in range(draw.randrange(4, 20))]
        head, tail = f"-----BEGIN {label}-----", f"-----END {label}-----"
        return "\n".join([head, *lines, _of(STD64, 30)(draw) + "==", tail])

    return make


# Marks that issuers put into their tokens are parted here, so that this file holds no token.
TOKENS: dict[str, Make] = {
    "OpenAI": _join("sk-proj-", _of(URL64, 74), "T3Blb" + "kFJ", _of(URL64, 74)),
    "OpenAI, older": _join("sk-", _of(ALNUM, 20), "T3Blb" + "kFJ", _of(ALNUM, 20)),
    "Anthropic": _join("sk-ant-" + "api03-", _of(URL64, 93), "AA"),
    "GitHub": _join("gh" + "p_", _of(ALNUM, 36)),
    "GitHub, app": _join("gh" + "s_", _of(ALNUM, 36)),
    "GitHub, fine": _join("github_" + "pat_", _of(ALNUM, 22), "_", _of(ALNUM, 59)),
    "GitLab": _join("gl" + "pat-", _of(URL64, 20)),
    "Slack": _join(
        "xox" + "b-", _of("123456789", 12), "-", _of("123456789", 13), "-", _of(ALNUM, 24)
    ),
    "Slack, hook": _join(
        "https://hooks.slack.com/" + "services/T",
        _of(UPPER, 8),
        "/B",
        _of(UPPER, 10),
        "/",
        _of(ALNUM, 24),
    ),
    "Stripe": _join("sk_" + "live_", _of(ALNUM, 24)),
    "AWS key id": _join("AK" + "IA", _of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    "Google": _join("AI" + "za", _of(URL64, 35)),
    "Google, client": _join("GOC" + "SPX-", _of(URL64, 28)),
    "npm": _join("np" + "m_", _of(ALNUM, 36)),
    "PyPI": _join("pypi-" + "AgEIcHlwaS5vcmc", _of(URL64, 140)),
    "Hugging Face": _join("h" + "f_", _of(string.ascii_letters, 34)),
    "SendGrid": _join("S" + "G.", _of(URL64, 22), ".", _of(URL64, 43)),
    "Telegram": _join(_of("123456789", 10), ":A" + "A", _of(URL64, 33)),
    "DigitalOcean": _join("dop_" + "v1_", _of(HEX, 64)),
    "JWT": _jwt,
    "RSA key": _block("RSA PRIVATE KEY"),
    "OpenSSH key": _block("OPENSSH PRIVATE KEY"),
    "PGP key": _block("PGP PRIVATE KEY BLOCK"),
}
"""Values that tell themselves what they are."""

_NAMED: dict[str, tuple[str, Make]] = {
    "password: …": ("password: {}", _password),
    "password = '…'": ("DB_PASSWORD = '{}'", _password),
    "the password is …": ("The password is {} for now.", _password),
    "Passwort: …": ("Das WLAN-Passwort: {}", _password),
    "Kennwort ist …": ("Das Kennwort ist {}.", _password),
    "密码：…": ("路由器的密码：{}", _password),
    "API_KEY=…": ("export WEATHER_API_KEY={}", _of(LOWER, 32)),
    "api key is …": ("The api key is {} since May.", _of(ALNUM, 40)),
    "secret: hex": ("client_secret: {}", _of(HEX, 40)),
    "token: …": ("token: {}", _of(URL64, 48)),
    "AWS secret": ("aws_secret_access_key = {}", _of(STD64, 40)),
    "Bearer …": ("Authorization: Bearer {}", _of(URL64, 60)),
    "AccountKey=…": (
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};",
        _join(_of(STD64, 86), "=="),
    ),
    "postgres://": ("postgres://app:{}@db.internal:5432/main", _password),
    "mongodb+srv://": ("mongodb+srv://app:{}@cluster0.mongodb.net/x", _password),
    "redis://:…@": ("redis://:{}@cache.internal:6379/0", _password),
    "Pwd=…;": ("Server=db;Database=x;User Id=sa;Password={};", _password),
    "curl -u": ("curl -u admin:{} https://api.internal/x", _password),
}
"""Values that only the words around them give away."""

_PLACES = (
    "{}",
    "Deploy notes.\n\n{}\n\nUse the blue cluster.",
    "- [ ] rotate this: {}",
    "```\n{}\n```",
    "> {}",
    "| what | value |\n|---|---|\n| key | {} |",
)


def secrets(seed: int, each: int) -> Iterator[Sample]:
    """So many texts of each kind, the secret somewhere in a note."""
    draw = random.Random(seed)
    for kind, make in TOKENS.items():
        for number in range(each):
            value = make(draw)
            yield Sample(kind, _PLACES[number % len(_PLACES)].format(value), value)
    for kind, (line, make) in _NAMED.items():
        for number in range(each):
            value = make(draw)
            text = _PLACES[number % 5].format(line.format(value))
            yield Sample(kind, text, value)


_LINES: dict[str, tuple[str, Make]] = {
    "UUID": ("The job {} ended well.", lambda d: str(uuid.UUID(int=d.getrandbits(128)))),
    "commit": ("Commit {} fixes the token refresh.", _of(HEX, 40)),
    "revision": ("revision {} of the password page", _of(HEX, 12)),
    "checksum": ("sha256: {}", _of(HEX, 64)),
    "image digest": ("FROM python@sha256:{}", _of(HEX, 64)),
    "IBAN": ("IBAN DE{} beim Notar", _of(string.digits, 20)),
    "phone": ("Call +49 30 {} about the keys.", _of(string.digits, 8)),
    "video": ("https://www.youtube.com/watch?v={}", _of(URL64, 11)),
    "long address": ("https://example.org/p/{}?utm_source=x&id=7", _of(ALNUM, 32)),
    "shared document": ("https://docs.google.com/document/d/1{}/edit", _of(URL64, 43)),
    "picture": ("![plan](data:image/png;base64,{}=)", _of(STD64, 400)),
    "integrity": ('integrity="sha384-{}"', _of(STD64, 64)),
    "public key": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} anna@otter", _of(STD64, 43)),
    "ticket": ("INC{} waits for the API key owner.", _of(string.digits, 7)),
    "block id": ("A paragraph. ^{}", _of(LOWER, 6)),
    "wiki link": ("[[Secrets of {} cooking|secrets]]", _of(string.ascii_lowercase, 9)),
    "etag": ('etag: W/"{}"', _of(HEX, 32)),
    "DOI": ("https://doi.org/10.1000/{}", _of(LOWER, 12)),
    "code name": ("set {}TokenProvider in the config", _of(string.ascii_letters, 12)),
    "number": ("Inventory number {}", _of(UPPER, 14)),
}

SENTENCES = (
    "The password is in the safe.",
    "Password: see the blue folder.",
    "password: ${DB_PASSWORD_2}",
    "token = get_token(session)",
    "api_key: <your-api-key>",
    "api_key = os.environ['OPENAI_API_KEY']",
    "password: str | None = None",
    "password: changeme123 is the default of the vendor, so change it.",
    "No token is baked into the image; set mapToken from the variable MAP_TOKEN.",
    "The secret is patience.",
    "Secret: bake it for 45 minutes.",
    "Token: 3 of 5 were used.",
    "Das Passwort liegt im Tresor.",
    "Passwort: siehe blauer Ordner, Seite 12.",
    "Das Kennwort wird alle 90 Tage geändert.",
    "密码在保险箱里。",
    "密码：见蓝色文件夹。",
    "Authorization: Bearer <token>",
    "Use `curl -u user:password` with your own.",
    "postgres://user:password@localhost/db",
    "postgres://app:${PGPASSWORD}@db.internal:5432/main",
    "The public key is in docs/keys/anna.pub.",
    "Each token costs 0.2 cents; 1200 tokens for a page.",
    "Session keys: 14:00 Keynote, 15:30 API design.",
    "The API key rotates on 2026-03-01; ask Tobias.",
    "max_tokens: 4096",
    "tokenizer: cl100k_base",
    "secretary: Frau Meier, Tel. 0301234567",
    "The secret ingredient is 200g of Gruyère.",
    "key: C# minor, 120bpm",
    "https://user@example.org/a:b@c",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "sk-learn-contrib-projects-are-fine",
    "Run `gh auth token` and `npm token create`.",
    "PIN is required at the door, code on the note in the kitchen.",
    "passwordless login with WebAuthn (FIDO2)",
    "token: string, expires_in: 3600",
    "auth: { type: oauth2, flow: device_code }",
    "PASSWORD_RESET_URL=https://example.org/reset",
)


def ordinary(seed: int, each: int) -> Iterator[Sample]:
    """Lines that look like secrets to a bad detector and are none; sentences about secrets."""
    draw = random.Random(seed)
    for kind, (line, make) in _LINES.items():
        for _ in range(each):
            yield Sample(kind, line.format(make(draw)))
    for sentence in SENTENCES:
        yield Sample("sentence", sentence)
