"""A stand-in for a Qdrant server: the REST calls that we use, answered by local mode.

It proves what goes over the wire and how errors arrive, not a server's ranking or durability.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qdrant_client import QdrantClient, models

KEY = "the-key"
SECONDS = 20.0


class QdrantDouble:
    """Collections in memory behind an address."""

    def __init__(self) -> None:
        self.client = QdrantClient(":memory:")
        self.indexes: set[tuple[str, str]] = set()
        """(collection, payload field) of every payload index that was asked for."""
        self.filters: list[dict[str, Any]] = []
        """Of every search, in order."""
        self.writes = 0
        """How many calls changed points."""
        self.answers = threading.Event()
        """Calls wait for it: not set, the server hangs."""
        self.answers.set()
        self.away = False
        """Whether the server answers with 503, as one that restarts does."""
        self.full = False
        """Whether the server takes no more vectors, as one whose disk is full does."""
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """The `result` of a call."""
        if (method, path) == ("GET", "/collections"):
            names = [one.name for one in self.client.get_collections().collections]
            return {"collections": [{"name": name} for name in names]}
        found = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        assert found is not None, path
        return self._collection(method, found[1], found[2] or "", body)

    def _collection(self, method: str, name: str, rest: str, body: dict[str, Any]) -> Any:
        match (method, rest):
            case ("GET", "/exists"):
                return {"exists": self.client.collection_exists(name)}
            case ("PUT", ""):
                dense = {key: models.VectorParams(**one) for key, one in body["vectors"].items()}
                some = (body.get("sparse_vectors") or {}).items()
                sparse = {key: models.SparseVectorParams(**one) for key, one in some}
                return self.client.create_collection(
                    name, vectors_config=dense, sparse_vectors_config=sparse or None
                )
            case ("PUT", "/index"):
                self.indexes.add((name, body["field_name"]))
                return {"operation_id": 0, "status": "completed"}
            case ("DELETE", ""):
                return self.client.delete_collection(name)
            case _:
                return self._points(name, rest, body)

    def _points(self, name: str, rest: str, body: dict[str, Any]) -> Any:
        match rest:
            case "/points":
                if "batch" not in body:
                    found = self.client.retrieve(name, body["ids"], with_vectors=True)
                    return [{"id": point.id, "vector": point.vector} for point in found]
                self.client.upsert(name, models.Batch(**body["batch"]))
            case "/points/batch":
                self.writes += 1
                every = [_operation(one) for one in body["operations"]]
                self.client.batch_update_points(name, every)
                return [{"operation_id": 0, "status": "completed"} for _ in every]
            case "/points/delete":
                self.client.delete(name, models.PointIdsList(points=body["points"]))
            case "/points/query":
                self.filters.append(body.get("filter") or {})
                asked = body["query"]["nearest"]
                hits = self.client.query_points(
                    name,
                    query=models.SparseVector(**asked) if isinstance(asked, dict) else asked,
                    using=body["using"],
                    limit=body["limit"],
                    score_threshold=body.get("score_threshold"),
                    query_filter=_filter(body),
                )
                rows = [{"id": p.id, "version": 0, "score": p.score} for p in hits.points]
                return {"points": rows}
            case "/points/scroll":
                page, after = self.client.scroll(
                    name,
                    limit=body["limit"],
                    offset=body.get("offset"),
                    scroll_filter=_filter(body),
                )
                told = [{"id": p.id, "payload": p.payload} for p in page]
                return {"points": told, "next_page_offset": after}
            case "/points/count":
                return {"count": self.client.count(name, count_filter=_filter(body)).count}
        return {"operation_id": 0, "status": "completed"}


def _operation(body: dict[str, Any]) -> models.UpsertOperation | models.DeleteOperation:
    return models.UpsertOperation(**body) if "upsert" in body else models.DeleteOperation(**body)


def _filter(body: dict[str, Any]) -> models.Filter | None:
    found = body.get("filter")
    return models.Filter(**found) if found else None


@contextmanager
def qdrant() -> Iterator[QdrantDouble]:
    """A running double that wants KEY."""
    double = QdrantDouble()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            size = int(self.headers["content-length"] or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            double.answers.wait(SECONDS)
            if double.away:
                self._send(503, {"status": {"error": "restarting"}})
                return
            if double.full and self.path.partition("?")[0].endswith("/points"):
                self._send(500, {"status": {"error": "No space left on device"}})
                return
            if self.headers["api-key"] != KEY:
                self._send(401, {"status": {"error": "wrong key"}})
                return
            try:
                with double.lock:
                    result = double.answer(self.command, self.path.partition("?")[0], body)
            except ValueError as error:
                assert "not found" in str(error), error
                self._send(404, {"status": {"error": f"Not found: {error}"}})
                return
            self._send(200, {"result": result, "status": "ok", "time": 0.0})

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def _send(self, status: int, value: Any) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        double.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield double
        finally:
            double.answers.set()
            server.shutdown()
        thread.join()
    double.client.close()
