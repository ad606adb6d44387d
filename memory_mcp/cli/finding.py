"""What an examination says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `wrong` needs an action, which `way_out` names."""

    subject: str
    state: Literal["good", "remark", "wrong"]
    text: str
    way_out: str = ""
