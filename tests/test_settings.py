"""Settings from file, environment and flags, and what is said of those that cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.core.config import Config
from memory_mcp.core.errors import ConfigError, Problem
from memory_mcp.settings import SECRET_KEYS, Loaded, load


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def configure(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    path = home / "config.yml"
    path.write_text(text, encoding="utf-8")
    return path


def read(home: Path, text: str = "", flags: dict[str, object] | None = None, **env: str) -> Loaded:
    if text:
        configure(home, text)
    return load({"MEMORY_MCP_HOME": str(home), **env}, flags or {})


def problems(
    home: Path, text: str = "", flags: dict[str, object] | None = None, **env: str
) -> dict[str, Problem]:
    with pytest.raises(ConfigError) as caught:
        read(home, text, flags, **env)
    return {problem.key: problem for problem in caught.value.problems}


def test_without_a_file_everything_has_its_default(home: Path) -> None:
    loaded = read(home)
    assert loaded.config == Config.model_validate({"home": str(home), "sources": {}})
    assert set(loaded.origins.values()) == {"default", "MEMORY_MCP_HOME"}
    assert loaded.origins["sources.wiki.boost"] == "default"
    assert not home.exists()


@pytest.mark.parametrize(
    "text", ["", "\n", "# only a comment\n", "---\n...\n", "search:\nsources:\nprojects: null\n"]
)
def test_an_empty_file_or_section_means_the_defaults(home: Path, text: str) -> None:
    configure(home, text)
    assert read(home).config == Config.model_validate({"home": str(home), "sources": {}})


def test_the_home_is_the_flags_the_environments_or_the_users(tmp_path: Path) -> None:
    user = {"HOME": str(tmp_path)}
    assert load(user, {}).config.home == str(tmp_path / ".memory-mcp")
    assert load(user, {}).origins["home"] == "default"
    env = {**user, "MEMORY_MCP_HOME": "~/here"}
    assert load(env, {}).config.home == str(tmp_path / "here")
    assert load(env, {}).origins["home"] == "MEMORY_MCP_HOME"
    flagged = load(env, {"home": str(tmp_path / "there")})
    assert (flagged.config.home, flagged.origins["home"]) == (str(tmp_path / "there"), "--home")


def test_a_flag_overrides_the_environment_which_overrides_the_file(home: Path) -> None:
    text = "agent: file\nrecall: {max_results: 1, max_tokens: 900}\nwriting: {read_only: false}\n"
    loaded = read(
        home,
        text,
        {"agent": "flag", "read_only": True, "tools": None},
        MEMORY_MCP_AGENT="variable",
        MEMORY_MCP_RECALL__MAX_RESULTS="7",
    )
    config = loaded.config
    assert config.agent == "flag"
    assert (config.recall.max_results, config.recall.max_tokens) == (7, 900)
    assert config.writing.read_only
    origins = loaded.origins
    assert origins["agent"] == "--agent"
    assert origins["writing.read_only"] == "--read-only"
    assert origins["recall.max_results"] == "MEMORY_MCP_RECALL__MAX_RESULTS"
    assert origins["recall.max_tokens"] == str(home / "config.yml")
    assert origins["recall.min_score"] == "default"


def test_variables_are_read_as_what_the_setting_wants(home: Path) -> None:
    config = read(
        home,
        "sources: {My-Vault: {path: /v}}\n",
        MEMORY_MCP_AGENT="007",
        MEMORY_MCP_TOOLS="core, curation",
        MEMORY_MCP_PROJECTS="auto",
        MEMORY_MCP_SEARCH__LANGUAGE="no",
        MEMORY_MCP_SEARCH__VECTOR_WEIGHT="0.3",
        MEMORY_MCP_INDEX__WATCH="off",
        MEMORY_MCP_INDEX__EXCLUDE="[Templates/**, '*.draft.md']",
        MEMORY_MCP_SOURCES__VAULT__PATH="~/My: Vault #1",
        MEMORY_MCP_SOURCES__MY_VAULT__MAX_DEPTH="3",
        MEMORY_MCP_REASONER__COMMAND="ask --now, please",
        MEMORY_MCP_EMBEDDING__MODEL="",
    ).config
    assert config.agent == "007"
    assert config.tools == ("core", "curation")
    assert config.projects == "auto"
    assert config.search.language == "no"
    assert config.search.vector_weight == 0.3
    assert config.index.watch is False
    assert config.index.exclude == ("Templates/**", "*.draft.md")
    assert config.sources["vault"].path == "~/My: Vault #1"
    assert config.sources["My-Vault"].max_depth == 3
    assert config.reasoner.command == "ask --now, please"
    assert config.embedding.model is None


def test_words_of_the_file_stay_words(home: Path) -> None:
    config = read(
        home,
        "projects: off\nsearch: {language: no}\nindex: {watch: off}\ncuration: {rem: yes}\n"
        "embedding: {provider: fastembed, model: 2024-05-13}\n",
    ).config
    assert config.projects == "off"
    assert config.search.language == "no"
    assert config.index.watch is False
    assert config.curation.rem is True
    assert config.embedding.model == "2024-05-13"


def test_null_gives_the_default_back(home: Path) -> None:
    config = read(
        home, "search: {slug_match_boost: 3}\n", MEMORY_MCP_SEARCH__SLUG_MATCH_BOOST="null"
    ).config
    assert config.search.slug_match_boost == 1.5


def test_all_problems_are_told_at_once_with_key_value_and_place(home: Path) -> None:
    text = (
        "serch: {}\n"
        "recall:\n"
        "  max_results: lots\n"
        "  min_scor: 0.5\n"
        "index: {sweep_seconds: -1}\n"
        "tools: core\n"
        "writing: {secrets: wran}\n"
        "vectors: {url: localhost}\n"
        "sources:\n"
        "  vault: {boost: 1}\n"
        "  notes:\n"
    )
    found = problems(
        home, text, {"agent": "a/../b"}, MEMORY_MCP_SEARCH__VECTOR_WEIGHT="2", MEMORY_MCP_TOLS="x"
    )
    path = str(home / "config.yml")
    expected = {
        "serch": ("did you mean search?", f"{path}, line 1"),
        "recall.max_results": ("'lots' is not a whole number", f"{path}, line 3"),
        "recall.min_scor": ("did you mean min_score?", f"{path}, line 4"),
        "index.sweep_seconds": ("-1 is less than 0", f"{path}, line 5"),
        "tools": ("'core' is not a list; write [core]", f"{path}, line 6"),
        "writing.secrets": (
            "'wran' is none of warn, refuse, allow; did you mean warn?",
            ", line 7",
        ),
        "vectors.url": ("'localhost' is no address", f"{path}, line 8"),
        "sources.vault.path": ("is missing", f"{path}, line 10"),
        "sources.notes.path": ("is missing", f"{path}, line 11"),
        "agent": ("'a/../b' cannot be a name", "--agent"),
        "search.vector_weight": ("2 is not auto", "MEMORY_MCP_SEARCH__VECTOR_WEIGHT"),
        "MEMORY_MCP_TOLS": ("did you mean MEMORY_MCP_TOOLS?", "environment"),
    }
    assert set(found) == set(expected)
    for key, (message, origin) in expected.items():
        assert message in found[key].message, key
        assert found[key].origin.endswith(origin), key


@pytest.mark.parametrize(
    "key", ["sk-ant-0123456789abcdef", "0abc", "9f86d081884c7d659a2feaa0c55ad015"]
)
def test_a_key_in_the_place_of_its_variable_is_refused_and_not_repeated(
    home: Path, key: str
) -> None:
    text = (
        f"embedding: {{provider: openai, api_key_env: '{key}'}}\n"
        f"reasoner: {{provider: anthropic, model: m, api_key_env: '{key}',"
        f" fallback: [{{provider: anthropic, model: m, api_key_env: '{key}'}}]}}\n"
        f"http: {{token_env: '{key}', tokens: [{{name: a, token_env: '{key}'}}]}}\n"
    )
    found = problems(home, text)
    assert set(found) == {
        "embedding.api_key_env",
        "reasoner.api_key_env",
        "reasoner.fallback.0.api_key_env",
        "http.token_env",
        "http.tokens.0.token_env",
    }
    assert all(key not in problem.message for problem in found.values())
    assert all("is no name of a variable" in problem.message for problem in found.values())


@pytest.mark.parametrize("name", ["MY_KEY_2", "my_openai_key_of_the_year_2026", "_k", "MemoryKey"])
def test_any_usual_name_of_a_variable_is_taken(home: Path, name: str) -> None:
    loaded = read(home, f"embedding: {{provider: openai, api_key_env: {name}}}\n")
    assert loaded.config.embedding.api_key_env == name


@pytest.mark.parametrize(
    "address", ["ftp://me:PASS@host", "me:PASS@host", "http://me:a/PASS@host", "host?key=PASS"]
)
def test_what_is_no_address_is_told_without_what_may_be_secret_in_it(
    home: Path, address: str
) -> None:
    message = problems(home, f"vectors: {{url: '{address}'}}\n")["vectors.url"].message
    assert "is no address" in message and "host" in message and "PASS" not in message


def test_a_key_in_the_wrong_section_is_told_the_right_one(home: Path) -> None:
    assert "writing.read_only" in problems(home, "read_only: true\n")["read_only"].message


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("MEMORY_MCP_RECALL_MAX_TOKENS", "MEMORY_MCP_RECALL__MAX_TOKENS"),
        ("MEMORY_MCP_HOEM", "MEMORY_MCP_HOME"),
        ("MEMORY_MCP_SOURCES__WIKI__BOST", "MEMORY_MCP_SOURCES__WIKI__BOOST"),
    ],
)
def test_an_unknown_variable_is_told_the_nearest(home: Path, name: str, near: str) -> None:
    assert f"did you mean {near}?" in problems(home, "", None, **{name: "1"})[name].message


def test_variables_with_secrets_are_no_settings(home: Path) -> None:
    text = (
        "embedding: {provider: openai, api_key_env: MEMORY_MCP_EMBED_KEY}\n"
        "http: {tokens: [{name: laptop, token_env: MEMORY_MCP_LAPTOP}]}\n"
    )
    config = read(
        home,
        text,
        MEMORY_MCP_EMBED_KEY="k",
        MEMORY_MCP_LAPTOP="t",
        MEMORY_MCP_TOKEN="t",
        MEMORY_MCP_REASONER__API_KEY_ENV="MEMORY_MCP_CHAT_KEY",
        MEMORY_MCP_CHAT_KEY="c",
    ).config
    assert config.reasoner.api_key_env == "MEMORY_MCP_CHAT_KEY"


@pytest.mark.parametrize("provider", ["anthropic", "deepseek", "grok", "groq", "Groq"])
def test_providers_without_embeddings_are_refused_in_a_sentence(home: Path, provider: str) -> None:
    found = problems(home, f"embedding: {{provider: {provider}}}\n")
    assert list(found) == ["embedding.provider"]
    assert f"{provider!r} offers no embeddings; use bundled" in found["embedding.provider"].message


@pytest.mark.parametrize("provider", ["openai", "google", "mistral"])
def test_providers_bring_their_defaults_and_keep_what_is_given(home: Path, provider: str) -> None:
    chosen = read(home, f"embedding: {{provider: {provider}, model: mine}}\n").config.embedding
    assert chosen.model == "mine"
    assert chosen.base_url is not None and chosen.base_url.startswith("https://")
    assert chosen.api_key_env is not None
    assert read(home, f"embedding: {{provider: {provider}}}\n").config.embedding.model


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("embedding: {provider: openai-compatible}", {"embedding.base_url", "embedding.model"}),
        ("embedding: {base_url: 'ftp://x'}", {"embedding.base_url"}),
        ("reasoner: {provider: openai-compatible}", {"reasoner.base_url", "reasoner.model"}),
        ("reasoner: {provider: anthropic}", {"reasoner.model"}),
        ("reasoner: {provider: command}", {"reasoner.command"}),
        ("reasoner: {fallback: [{provider: command}]}", {"reasoner.fallback.0.command"}),
        ("reasoner: {fallback: [{provider: gpt}]}", {"reasoner.fallback.0.provider"}),
        ("reasoner: {command: {a: b}}", {"reasoner.command"}),
        ("vectors: {url: 'http://'}", {"vectors.url"}),
        ("vectors: {words: server}", {"vectors.words"}),
        ("http: {tokens: [{name: a}]}", {"http.tokens.0"}),
        ("http: {tokens: [{name: a, token_env: X, token_file: y}]}", {"http.tokens.0"}),
        ("http: {port: 65536}", {"http.port"}),
        ("index: {exclude: ['!']}", {"index.exclude"}),
        ("sources: {v: {path: p, exclude: [a, '!']}}", {"sources.v.exclude"}),
        ("sources: {All: {path: p}}", {"sources.All"}),
        ("sources: {v: {path: p}, V: {path: q}}", {"sources.V"}),
        ("sources: {v: {path: ' '}}", {"sources.v.path"}),
        ("sources: {a b: {path: p}}", {"sources.a b"}),
        ("sources: [a]", {"sources"}),
        ("search: 3", {"search"}),
        ("search: {slug_match_boost: .nan}", {"search.slug_match_boost"}),
        ("home: /elsewhere", {"home"}),
        ("agent: ..", {"agent"}),
        ("agent: 7", {"agent"}),
        ("agent: con", {"agent"}),
        ("agent: rook.", {"agent"}),
        ("http: {tokens: [{name: a, token_env: X, agent: ../b}]}", {"http.tokens.0.agent"}),
        ("recall: {max_tokens: 1}\nrecall: {max_tokens: 2}", {"recall"}),
        ("recall:\n  max_tokens: 1\n  max_tokens: 2", {"recall.max_tokens"}),
    ],
)
def test_what_cannot_be_used_is_named_by_its_key(home: Path, text: str, keys: set[str]) -> None:
    assert set(problems(home, text)) == keys


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"a: [1\nb: 2\n", "is not valid YAML", "line 2"),
        (b"recall:\n\tmax_tokens: 5\n", "is not valid YAML", "line 2"),
        (b"agent: a: b\n", "is not valid YAML", "line 1"),
        (b"x: !!python/object/apply:os.system [echo]\n", "is not valid YAML", "line 1"),
        (b"- a\n- b\n", "holds a list", ""),
        (b"just words\n", "holds a single value", ""),
        (b"agent: a\n# caf\xe9\n", "is not UTF-8", "line 2"),
        (b"a: &a {b: *a}\n", "nested more than", ""),
        (b"[" * 3000, "", ""),
    ],
)
def test_a_file_that_cannot_be_read_is_told_with_its_line(
    home: Path, data: bytes, message: str, line: str
) -> None:
    configure(home, "").write_bytes(data)
    found = problems(home)["config.yml"]
    assert message in found.message
    assert found.origin.startswith(str(home / "config.yml"))
    assert line in found.origin


def test_a_folder_in_place_of_the_file_is_told(home: Path) -> None:
    (home / "config.yml").mkdir(parents=True)
    assert "is a folder" in problems(home)["config.yml"].message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_in_place_of_the_file_is_told_and_not_waited_for(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    os.mkfifo(home / "config.yml")
    assert "kind" in problems(home)["config.yml"].message


def test_a_file_with_byte_order_mark_and_crlf_is_read(home: Path) -> None:
    configure(home, "").write_bytes(b"\xef\xbb\xbfagent: rook\r\nrecall:\r\n  max_results: 2\r\n")
    config = read(home).config
    assert (config.agent, config.recall.max_results) == ("rook", 2)


def test_a_project_file_is_not_read(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".memory-mcp.yml").write_text("agent: intruder\n", encoding="utf-8")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert read(home).config.agent == "default"
    finally:
        os.chdir(before)


def test_secrets_are_marked_and_never_in_a_message(home: Path) -> None:
    assert "api_key" in SECRET_KEYS
    found = problems(home, "vectors: {api_key: [s3cret]}\n")
    assert "s3cret" not in str(found["vectors.api_key"])


def test_a_key_that_others_may_read_is_warned_of(home: Path) -> None:
    path = configure(home, "vectors: {url: 'http://localhost:6333', api_key: abc}\n")
    path.chmod(0o644)
    assert "vectors.api_key" in read(home).warnings[0]
    path.chmod(0o600)
    assert read(home).warnings == ()


def test_flags_that_are_no_settings_are_left_alone(home: Path) -> None:
    assert read(home, "", {"in_process": True, "agent": None}).config.agent == "default"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["search", "sources", "vault", "tools", "http", "tokens", "x", "path"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_stands_in_the_file_is_read_or_refused_in_words(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "config.yml").write_text(yaml.safe_dump(content), encoding="utf-8")
    try:
        loaded = read(home)
    except ConfigError as error:
        assert error.problems
        assert all(problem.message and problem.origin for problem in error.problems)
    else:
        assert loaded.config.home == str(home)


def test_the_mark_of_a_reasoners_environment_is_no_setting(home: Path) -> None:
    loaded = load({"MEMORY_MCP_REASONER": "1"}, {"home": str(home)})
    assert loaded.config.reasoner.provider == "none"
