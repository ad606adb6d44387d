"""The settings and their defaults: every number one would tune, with its reason.

Frozen values; `memory_mcp.settings` reads them from file, environment and flags.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from memory_mcp.core.agent import PATTERN, check_agent
from memory_mcp.core.languages import language_setting

Positive = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Factor = Annotated[float, Field(ge=0, le=100)]
AgentName = Annotated[str, Field(pattern=PATTERN), AfterValidator(check_agent)]


class Section(BaseModel):
    """A frozen group of settings that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class SourceSettings(Section):
    """One folder of notes."""

    path: str
    boost: Factor = 0.65
    exclude: tuple[str, ...] = ()
    max_depth: Positive = 12
    max_files: Positive = 20_000


SOURCE_DEFAULTS: dict[str, dict[str, Any]] = {
    "memory": {"path": "agents/{agent}/memory", "boost": 0.85},
    "wiki": {"path": "wiki", "boost": 1.4},
}


class IndexSettings(Section):
    """How changes on disk are noticed."""

    watch: bool = True
    sweep_seconds: Count = 30  # stat sweep of local sources; 20,000 files cost 0.15 s
    rescan_minutes: Count = 10  # for shares, where events of other machines do not arrive
    exclude: tuple[str, ...] = ()


class ChunkSettings(Section):
    """How notes are cut into passages."""

    target_tokens: Annotated[int, Field(ge=32, le=2000)] = 200  # 400 loses ten points of T@500
    overlap: Annotated[int, Field(ge=0, le=10)] = 1


Provider = Literal[
    "bundled",
    "multilingual",
    "fastembed",
    "openai",
    "google",
    "mistral",
    "openai-compatible",
    "none",
]


CHAT_ONLY = ("anthropic", "deepseek", "grok", "groq")
"""Providers of chat models that offer no embeddings."""

PROVIDER_DEFAULTS: dict[str, dict[str, str]] = {
    "openai": {
        "base_url": "https://api.openai.com/v1",
        "model": "text-embedding-3-small",
        "api_key_env": "OPENAI_API_KEY",
    },
    "google": {
        "base_url": "https://generativelanguage.googleapis.com/v1beta/openai",
        "model": "gemini-embedding-001",
        "api_key_env": "GEMINI_API_KEY",
    },
    "mistral": {
        "base_url": "https://api.mistral.ai/v1",
        "model": "mistral-embed",
        "api_key_env": "MISTRAL_API_KEY",
    },
}
"""What a provider's name stands for; all three speak the same protocol."""


class EmbeddingSettings(Section):
    """Which model turns texts into vectors. Names of providers bring their own defaults."""

    provider: Provider = "bundled"
    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None

    @field_validator("provider", mode="before")
    @classmethod
    def _refuse_chat_only(cls, value: Any) -> Any:
        if isinstance(value, str) and value.lower() in CHAT_ONLY:
            raise ValueError(
                f"{value!r} offers no embeddings; use bundled, multilingual, fastembed, openai,"
                " google, mistral, openai-compatible or none"
            )
        return value

    @model_validator(mode="before")
    @classmethod
    def _fill_provider(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = {key: item for key, item in value.items() if item is not None}
        return {**PROVIDER_DEFAULTS.get(str(value.get("provider")), {}), **given}


class VectorSettings(Section):
    """Where vectors are searched: embedded where `url` is null; and where words are."""

    url: str | None = None
    api_key: str | None = None
    words: Literal["memory", "server"] = "memory"


class SearchSettings(Section):
    """Defaults of the ranking are what the benchmark says."""

    vector_weight: Literal["auto"] | Share = "auto"
    slug_match_boost: Factor = 1.5
    slug_full_name_boost: Factor = 1.5
    log_demotion: Factor = 0.5
    page_support: Share = 0
    language: Annotated[str, AfterValidator(language_setting)] = "auto"


class RecallSettings(Section):
    """What is injected unasked."""

    query_turns: Count = 3
    max_results: Positive = 5
    min_score: Share = 0.35
    max_tokens: Positive = 1500
    history_weight: Share = 0.3
    history_weight_short: Share = 0.55
    history_weight_empty: Share = 0.8
    history_turn_chars: Positive = 800
    short_query_bm25_weight: Share = 0.5


class IndexSectionSettings(Section):
    """The overview that clients get at start and as `memories://index`."""

    file: str = "MEMORY.md"
    max_bytes: Positive = 32_768
    max_files: Positive = 500
    max_depth: Positive = 6


class SeedSettings(Section):
    """Notes that are given once per session."""

    max_bytes: Positive = 16_384


class TriggerSettings(Section):
    """Notes that are given when a literal text appears."""

    max_per_step: Count = 3
    case_sensitive: bool = False


class WritingSettings(Section):
    """What the write tools may do."""

    read_only: bool = False
    allow_pin_untrusted: bool = False
    secrets: Literal["warn", "refuse", "allow"] = "warn"


class ReasonerChoice(Section):
    """One chat model: an endpoint, or a command with the prompt on stdin."""

    provider: Literal["none", "openai-compatible", "anthropic", "command"] = "none"
    base_url: str | None = None
    model: str | None = None
    api_key_env: str | None = None
    command: str | tuple[str, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill_provider(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("provider") != "anthropic":
            return value
        given = {key: item for key, item in value.items() if item is not None}
        return {
            "base_url": "https://api.anthropic.com",
            "api_key_env": "ANTHROPIC_API_KEY",
            **given,
        }


class ReasonerSettings(ReasonerChoice):
    """The chat model that files, merges and reviews; none: the user's own agent does."""

    fallback: tuple[ReasonerChoice, ...] = ()
    """Asked in this order where those before are not there."""


class HttpToken(Section):
    """A named token and what it may do."""

    name: str
    token_env: str | None = None
    token_file: str | None = None
    agent: AgentName | None = None
    read_only: bool = False


class HttpSettings(Section):
    """`memory-mcp serve`."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8077
    token_env: str = "MEMORY_MCP_TOKEN"
    token_file: str | None = None
    tokens: tuple[HttpToken, ...] = ()


class EngineSettings(Section):
    """The shared engine."""

    idle_minutes: Annotated[float, Field(ge=0)] = 15


class CurationSettings(Section):
    """Jobs that change notes by judgement."""

    layout: Literal["wiki", "days"] = "wiki"
    language: str = "en"
    rem: bool | Literal["thorough"] = True
    deep_hours: Count = 12
    lucid_days: Count = 7
    harvest: bool = True
    transcripts: tuple[str, ...] = ()
    max_tokens_day: Count = 200_000
    max_removed_share: Share = 0.25


ToolSet = Literal["core", "curation"]


class Config(Section):
    """All settings of a home. `home` is absolute."""

    home: str
    agent: AgentName = "default"
    sources: dict[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")], SourceSettings
    ]
    projects: Literal["off", "auto"] = "off"
    index: IndexSettings = IndexSettings()
    chunking: ChunkSettings = ChunkSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    vectors: VectorSettings = VectorSettings()
    search: SearchSettings = SearchSettings()
    recall: RecallSettings = RecallSettings()
    index_section: IndexSectionSettings = IndexSectionSettings()
    seeds: SeedSettings = SeedSettings()
    triggers: TriggerSettings = TriggerSettings()
    writing: WritingSettings = WritingSettings()
    reasoner: ReasonerSettings = ReasonerSettings()
    http: HttpSettings = HttpSettings()
    engine: EngineSettings = EngineSettings()
    curation: CurationSettings = CurationSettings()
    tools: tuple[ToolSet, ...] = ("core",)

    @model_validator(mode="before")
    @classmethod
    def _fill_sources(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = value.get("sources")
        if given is not None and not isinstance(given, dict):
            return value
        merged: dict[str, Any] = {name: dict(item) for name, item in SOURCE_DEFAULTS.items()}
        for name, item in (given or {}).items():
            known = merged.get(name, {})
            merged[name] = {**known, **item} if isinstance(item, dict) else item
        return {**value, "sources": merged}
