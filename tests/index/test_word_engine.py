"""What words on a server ask for, done by a server's engine in this process (the extra `edge`)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from memory_mcp.index.server_words import vector

qdrant_edge = pytest.importorskip("qdrant_edge")

IDS = [(1 << 62) + number for number in range(5)]


def test_idf_rules_and_removal_by_note_are_those_of_the_engine(tmp_path: Path) -> None:
    edge = qdrant_edge
    words = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
    config = edge.EdgeConfig(vectors={}, sparse_vectors={"words": words})
    shard = edge.EdgeShard.create(str(tmp_path), config)
    passages = {
        IDS[0]: ({"stone": 1, "gate": 1}, IDS[3]),
        IDS[1]: ({"stone": 2}, IDS[3]),
        IDS[2]: ({"stone": 1, "mill": 1}, IDS[4]),
    }
    points = [
        edge.Point(
            id=point,
            vector={"words": edge.SparseVector(*vector(counts))},
            payload={"folders": ["trips"], "kind": "passage", "note": note},
        )
        for point, (counts, note) in passages.items()
    ]
    markers = [edge.Point(id=one, vector={}, payload={"kind": "note"}) for one in IDS[3:]]
    shard.update(edge.UpdateOperation.upsert_points([*points, *markers]))

    def any_of(field: str, value: str | int) -> object:
        return edge.FieldCondition(key=field, match=edge.MatchAny([value]))

    def hits(word: str, folder: str) -> dict[int, float]:
        places, values = vector({word: 1})
        query = edge.Query.Nearest(edge.SparseVector(places, [1.0] * len(values)), using="words")
        only = edge.Filter(should=[edge.Filter(must=[any_of("folders", folder)])])
        request = edge.QueryRequest(query=query, limit=9, filter=only)
        return {hit.id: hit.score for hit in shard.query(request)}

    places, values = vector(passages[IDS[2]][0])
    (place,), _ = vector({"mill": 1})
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    assert hits("mill", "trips") == {IDS[2]: pytest.approx(idf * values[places.index(place)])}
    assert hits("stone", "trips").keys() == {*IDS[:3]}
    assert hits("stone", "elsewhere") == {}
    old = edge.Filter(must=[any_of("note", IDS[3])], must_not=[edge.HasIdCondition({IDS[0]})])
    shard.update(edge.UpdateOperation.delete_points_by_filter(old))
    assert hits("stone", "trips").keys() == {IDS[0], IDS[2]}
    notes = edge.Filter(must=[any_of("kind", "note")])
    left, _ = shard.scroll(edge.ScrollRequest(limit=9, filter=notes))
    assert {record.id for record in left} == {*IDS[3:]}
    shard.close()
