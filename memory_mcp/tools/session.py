"""A memory as a program holds it: the tools of one client, through the engine of a home."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from memory_mcp.core.errors import EngineError, InputError
from memory_mcp.front.hello import FOLDER_VARIABLE, hello
from memory_mcp.front.home import home_of
from memory_mcp.front.links import ChildLink, EngineLink
from memory_mcp.front.starting import BadSettings, NoEngine, reach
from memory_mcp.tools.forms import (
    Form,
    Result,
    ToolSpec,
    answer_in,
    arguments_of,
    call_in,
    spec_in,
)
from memory_mcp.tools.wire import Link, Wire

if TYPE_CHECKING:
    from memory_mcp.settings import Loaded

log = logging.getLogger(__name__)

Arguments = Mapping[str, Any] | str | None
Given = TypeVarTuple("Given")
Answer = TypeVar("Answer")


class Session:
    """The tools of a memory, for one conversation.

    What was read in a session is remembered: a note that somebody else changed since is not
    overwritten, the call is refused and shows what changed. A session with a name can be taken up
    again for a week, by another process too; one without ends when it is closed.

    Nothing is asked of the engine before the first call, and the engine is started where none
    runs. Safe to use from several threads and tasks: their calls take turns.
    """

    def __init__(
        self,
        session: str | None = None,
        *,
        home: str | os.PathLike[str] | None = None,
        agent: str | None = None,
        read_only: bool = False,
        tools: Sequence[str] | str | None = None,
        folder: str | os.PathLike[str] | None = None,
        in_process: bool = False,
        seconds: float = 60.0,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`session` names the conversation, such as the id of a thread. `home`, `agent`,
        `read_only` and `tools` are the flags of the command line; what is left out is as
        `environ` (this process's) and config.yml say. `folder` is where the client works, this
        process's folder without it. `in_process` opens the memory here, without the engine.
        `seconds` is the longest that a call may take."""
        self._environ = dict(os.environ if environ is None else environ)
        sets = tools if isinstance(tools, str) or tools is None else ",".join(tools)
        given = {
            "home": None if home is None else os.fspath(home),
            "agent": agent,
            "read_only": read_only or None,
            "tools": sets,
        }
        self._flags: dict[str, object] = {k: v for k, v in given.items() if v is not None}
        if folder is not None:  # a server of our own is told in the same way as an engine
            self._environ[FOLDER_VARIABLE] = os.path.abspath(folder)  # noqa: PTH100
        self._in_process = in_process
        self._lasting = session is not None
        self._name = self._ledger_of(session) if session is not None else os.urandom(16).hex()
        self._wire = Wire(self._connect, seconds)

    def specs(self, form: Form) -> list[dict[str, Any]]:
        """The tools in the form of an API, as they are told to a model: those this client may
        use. Raises EngineError or ConfigError."""
        return [spec_in(form, tool) for tool in self.tools()]

    def tools(self) -> list[ToolSpec]:
        """The tools this client may use. Raises EngineError or ConfigError."""
        answer = self._wire.request("tools/list")
        if "result" not in answer:
            raise EngineError(f"the tools cannot be listed: {_message(answer)}")
        return [ToolSpec.of(tool) for tool in answer["result"]["tools"]]

    def instructions(self) -> str:
        """What a client of MCP is told at the start: put it into the system prompt. The same
        bytes until a note that it shows changes. Raises EngineError or ConfigError."""
        self._wire.open()
        return str(self._wire.opening.get("instructions") or "")

    def call(self, name: str, arguments: Arguments = None) -> Result:
        """The answer of a tool. `arguments` may be the JSON that a model wrote.

        What the model did wrong is a Result with `is_error`, for the model to read. Raises only
        what a model cannot mend: EngineError, ConfigError."""
        try:
            given = arguments_of(arguments)
        except InputError as error:
            return Result(str(error), is_error=True)
        answer = self._wire.request("tools/call", {"name": name, "arguments": given})
        if "result" not in answer:
            return Result(_message(answer), is_error=True)
        return _result(answer["result"])

    def answer(self, form: Form, request: Any) -> dict[str, Any]:
        """Do what a model asks for in a call of that form, and give what to send back for it.

        `request` is the call as the API sends it, a mapping or the object of its SDK: the `params`
        of `item/tool/call`, an item of `tool_calls`, a `function_call`, a `tool_use` block.
        Raises InputError where it is no such thing; else as `call`."""
        call = call_in(form, request)
        return answer_in(form, call, self.call(call.tool, call.arguments))

    async def acall(self, name: str, arguments: Arguments = None) -> Result:
        """As `call`, without holding up the event loop."""
        return await _on_a_thread(self.call, name, arguments)

    async def aanswer(self, form: Form, request: Any) -> dict[str, Any]:
        """As `answer`, without holding up the event loop."""
        return await _on_a_thread(self.answer, form, request)

    async def aspecs(self, form: Form) -> list[dict[str, Any]]:
        """As `specs`, without holding up the event loop."""
        return await _on_a_thread(self.specs, form)

    def close(self) -> None:
        """Hang up. A later call would begin anew."""
        self._wire.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await _on_a_thread(self.close)

    def _ledger_of(self, session: str) -> str:
        """The name of a ledger, 32 hex digits; another agent of that session has another one."""
        agent = self._flags.get("agent") or self._environ.get("MEMORY_MCP_AGENT") or ""
        return hashlib.sha256(f"{agent}\0{session}".encode()).hexdigest()[:32]

    # Links

    def _connect(self, repeated: list[str]) -> Link:
        if self._in_process:
            return self._inside()
        said: dict[str, Any] = {
            **hello("mcp", self._environ, self._flags),
            "session": self._name,
            "lasting": self._lasting,
            "repeated": repeated,
        }
        try:
            connection = reach(
                home_of(self._environ, self._flags.get("home")), said, self._environ
            )
        except NoEngine as error:
            return self._alone(error.reason)
        except BadSettings as error:
            self._loaded()  # names each problem, where this process sees it too
            raise EngineError(f"the settings cannot be used: {error}") from error
        for text in connection.answer.get("warnings") or ():
            log.warning("%s", text)
        return EngineLink(connection)

    def _inside(self) -> Link:
        """A memory in this process."""
        from memory_mcp.settings.project import project_of, settled, working_folder
        from memory_mcp.tools.inside import InsideLink

        loaded = self._loaded()
        project = project_of(loaded.config, working_folder(self._environ), self._environ)
        for text in (*loaded.warnings, *(project.warnings if project is not None else ())):
            log.warning("%s", text)
        config = settled(loaded, project)
        return InsideLink(config, project, self._name, lasting=self._lasting)

    def _alone(self, reason: str) -> Link:
        """A server for this client alone, as every client gets it where no engine can be had."""
        from memory_mcp.front.spawning import serve_alone

        log.warning("no shared engine, so this session gets a server of its own: %s", reason)
        try:
            return ChildLink(serve_alone(self._flags, self._environ))
        except OSError as error:
            raise EngineError(f"no server of the memory can be started: {error}") from error

    def _loaded(self) -> Loaded:
        """The settings; raises ConfigError with every problem."""
        from memory_mcp.settings import load

        return load(self._environ, self._flags)


def _result(result: Mapping[str, Any]) -> Result:
    parts = (part.get("text", "") for part in result.get("content") or ())
    return Result("\n".join(parts), result.get("structuredContent"), bool(result.get("isError")))


def _message(answer: Mapping[str, Any]) -> str:
    return str((answer.get("error") or {}).get("message") or "the server gave no answer")


async def _on_a_thread(function: Callable[[*Given], Answer], *arguments: *Given) -> Answer:
    """Run it on a worker thread. One who is cancelled does not wait; the call ends on its own."""
    import anyio.to_thread

    return await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)
