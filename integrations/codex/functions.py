"""A loop of function calls with the memory, for any API that speaks OpenAI's Chat Completions.

    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 \\
        python -m integrations.codex.functions "Which tomatoes did I want to order?"

With the SDK it is the same: pass `tools=memory.specs("openai-chat")` to
`client.chat.completions.create`, and each of `message.tool_calls` to `memory.answer`.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from typing import Any

from memory_mcp.tools import Session

Json = dict[str, Any]


def answer(question: str, memory: Session, base_url: str, model: str, key: str = "") -> str:
    """What the model says in the end, after as many calls as it wants."""
    messages: list[Json] = [
        {"role": "system", "content": memory.instructions()},
        {"role": "user", "content": question},
    ]
    tools = memory.specs("openai-chat")
    while True:
        asked = {"model": model, "messages": messages, "tools": tools}
        said = _post(f"{base_url}/chat/completions", asked, key)["choices"][0]["message"]
        messages.append(said)
        if not said.get("tool_calls"):
            return str(said["content"])
        messages += [memory.answer("openai-chat", call) for call in said["tool_calls"]]


def _post(address: str, body: Json, key: str) -> Json:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as response:
        found: Json = json.load(response)
        return found


if __name__ == "__main__":
    with Session() as session:
        said = answer(
            " ".join(sys.argv[1:]),
            session,
            os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            os.environ["MODEL"],
            os.environ.get("OPENAI_API_KEY", ""),
        )
    sys.stdout.write(f"{said}\n")
