"""Makes the graph of multilingual-e5-small that memory-mcp ships, without its weights.

`pip install onnx`, then `python -m benchmarks.e5_graph FILE`. A BERT encoder of twelve layers in
ONNX Runtime's own operators: matrices of 4-bit weights multiplied with 8-bit values, one scale for
each block of 32 (accuracy level 4), attention and normalisation fused. The tensors that
`memory_mcp.index.multilingual` lays into it are marked as stored elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WIDTH, INNER, LAYERS, HEADS, BLOCK = 384, 1536, 12, 12, 32
EPSILON = 1e-12
OURS = "com.microsoft"


class Graph:
    """The nodes and open tensors of a graph as they are added."""

    def __init__(self) -> None:
        from onnx import TensorProto

        self.kinds = TensorProto
        self.nodes: list[Any] = []
        self.tensors: list[Any] = []

    def open(self, name: str, shape: Sequence[int], kind: int) -> str:
        """A tensor that is given when the graph is loaded."""
        tensor = self.kinds(name=name, dims=shape, data_type=kind)
        tensor.data_location = self.kinds.EXTERNAL
        tensor.external_data.add(key="location", value="given-at-load")
        self.tensors.append(tensor)
        return name

    def floats(self, name: str, *shape: int) -> str:
        """The same, of 32-bit floats."""
        return self.open(name, shape, self.kinds.FLOAT)

    def node(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **more: Any) -> str:
        """Add a node; its first output."""
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, outputs, **more))
        return outputs[0]

    def matrix(self, name: str, given: str, rows: int, columns: int) -> str:
        """`given` times a matrix of 4-bit weights, plus a bias."""
        blocks = columns // BLOCK
        weight = self.open(f"{name}.weight", (rows, blocks, BLOCK // 2), self.kinds.UINT8)
        scale, bias = self.floats(f"{name}.scale", rows, blocks), self.floats(f"{name}.bias", rows)
        return self.node(
            "MatMulNBits",
            [given, weight, scale, "", "", bias],
            [name],
            domain=OURS,
            K=columns,
            N=rows,
            bits=4,
            block_size=BLOCK,
            accuracy_level=4,
        )

    def norm(self, name: str, given: str, added: str) -> str:
        """The normalised sum of two."""
        scale, bias = self.floats(f"{name}.scale", WIDTH), self.floats(f"{name}.bias", WIDTH)
        return self.node(
            "SkipLayerNormalization",
            [given, added, scale, bias],
            [name],
            domain=OURS,
            epsilon=EPSILON,
        )

    def layer(self, number: int, given: str) -> str:
        """Attention, then two matrices with a GELU between them."""
        parts = [f"{number}.{part}" for part in ("query", "key", "value")]
        self.node(
            "Split",
            [self.matrix(f"{number}.qkv", given, 3 * WIDTH, WIDTH)],
            parts,
            axis=-1,
            num_outputs=3,
        )
        seen = self.node(
            "MultiHeadAttention", parts, [f"{number}.seen"], domain=OURS, num_heads=HEADS
        )
        added = self.matrix(f"{number}.ao", seen, WIDTH, WIDTH)
        middle = self.norm(f"{number}.aln", given, added)
        inner = self.matrix(f"{number}.fi", middle, INNER, WIDTH)
        curved = self.node("Gelu", [inner], [f"{number}.gelu"], domain=OURS)
        return self.norm(
            f"{number}.oln", middle, self.matrix(f"{number}.fo", curved, WIDTH, INNER)
        )


def model() -> Any:
    """The graph: `embedded`, shape (texts, tokens, 384), to the last hidden states, the same."""
    from onnx import helper

    graph = Graph()
    scale, bias = graph.floats("first.scale", WIDTH), graph.floats("first.bias", WIDTH)
    state = graph.node(
        "LayerNormalization", ["embedded", scale, bias], ["first"], axis=-1, epsilon=EPSILON
    )
    for number in range(LAYERS):
        state = graph.layer(number, state)
    ends = [
        helper.make_tensor_value_info(name, graph.kinds.FLOAT, ["texts", "tokens", WIDTH])
        for name in ("embedded", state)
    ]
    made = helper.make_graph(
        graph.nodes, "multilingual-e5-small", ends[:1], ends[1:], graph.tensors
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(OURS, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=9)


def main() -> int:
    """Write the graph to the file named."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    Path(sys.argv[1]).write_bytes(model().SerializeToString(deterministic=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
