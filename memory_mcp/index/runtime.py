"""ONNX Runtime as both of our models run in it: few threads, no idle spinning, little memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_MOST_THREADS = 4  # one more core is one for somebody else
THREADS = min(_MOST_THREADS, os.cpu_count() or 1)
_M_MMAP_THRESHOLD, _LARGE = -3, 1 << 20  # the number of this option in malloc.h; bytes


def open_session(
    path: Path, threads: int, weights: Mapping[str, npt.NDArray[Any]] | None = None
) -> InferenceSession:
    """A session on the CPU for the graph in `path`; `weights` are the tensors that it leaves open.
    Raises what ONNX Runtime raises: kinds of its own, some of them bare."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # The arena keeps the largest batch's memory for good: 1.1 GB instead of 0.25, no faster.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle costs no CPU
    if weights:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in weights.values()]
        options.add_external_initializers(list(weights), values)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def lend_large() -> None:
    """Have the C library take large blocks from the system and give them back at once. Else each
    thread that runs the model keeps its peak for good: 600 MB instead of 180, and no faster."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Hand what loading or a large batch left over (50 of 210 MB) back to the system, where the C
    library can."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
