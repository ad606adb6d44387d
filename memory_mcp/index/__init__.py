"""Everything derived from the notes; delete it at any moment."""

from __future__ import annotations

import os

# ONNX Runtime reports its use to its maker, and keeps an identifier for that on disk, unless it is
# told not to before it is loaded. Every way to it leads through this package.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
