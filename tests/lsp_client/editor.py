"""An editor for the tests: pytest-lsp's client, with buffers, a person who answers questions, and a log of every message.

The profile decides what it can do. Edits are applied as real editors do: to the buffer, with a `didChange` before the answer.
"""
import asyncio
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Union

from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

TEE = Path(__file__).with_name("tee.py")
# Longest wait for an event; only a failing test waits this long.
PATIENCE = 60
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
Choose = Callable[[list[types.MessageActionItem]], types.MessageActionItem | None]


def answer(start: str) -> Choose:
    """The person takes the first choice whose title begins like this."""

    def choose(actions: list[types.MessageActionItem]) -> types.MessageActionItem | None:
        for action in actions:
            if action.title.lower().startswith(start.lower()):
                return action
        raise AssertionError(f"no choice begins with {start!r}: {[it.title for it in actions]}")

    return choose


@dataclass
class Buffer:
    text: str
    version: int = 1


@dataclass
class Editor:
    client: LanguageClient
    profile: str
    folder: Path
    log: Path
    result: types.InitializeResult | None = None
    buffers: dict[str, Buffer] = field(default_factory=dict)
    # What the person was asked, in order, and how the next questions are answered.
    asked: list[types.ShowMessageRequestParams] = field(default_factory=list)
    choose: Choose = field(default_factory=lambda: answer("Allow once"))
    edits: list[types.ApplyWorkspaceEditParams] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def encoding(self) -> str:
        """Positions count in UTF-16 units unless the server has chosen otherwise."""
        return (self.result and self.result.capabilities.position_encoding) or "utf-16"

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str | None = None, language: str = "rust") -> str:
        """Opens a file; with `text`, as a buffer with unsaved changes."""
        uri = self.uri(name)
        self.buffers[uri] = Buffer((self.folder / name).read_text() if text is None else text)
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, self.buffers[uri].version, self.buffers[uri].text))
        )
        return uri

    def type(self, uri: str, at: types.Range, text: str) -> None:
        """The person types: one change, with the encoding that was agreed on."""
        buffer = self.buffers[uri]
        buffer.text = replaced(buffer.text, [types.TextEdit(at, text)], self.encoding)
        buffer.version += 1
        self._tell(uri, [types.TextDocumentContentChangePartial(range=at, text=text)])

    def close(self, uri: str) -> None:
        """Closes the buffer; what was not saved is gone."""
        del self.buffers[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def actions(self, uri: str, at: types.Range, diagnostics: list[types.Diagnostic] = []) -> list[types.CodeAction | types.Command]:
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), at, types.CodeActionContext(diagnostics=diagnostics))
        return list(await self.within(self.client.text_document_code_action_async(params)) or [])

    async def command(self, uri: str, at: types.Range, name: str, diagnostics: list[types.Diagnostic] = []) -> types.Command:
        """The command `name` as one of the code actions offered here has it."""
        actions = await self.actions(uri, at, diagnostics)
        for action in actions:
            command = action if isinstance(action, types.Command) else action.command
            if command is None:
                command = (await self.within(self.client.code_action_resolve_async(action))).command
            if command and command.command == name:
                return command
        raise AssertionError(f"no code action has the command {name}: {[it.title for it in actions]}")

    async def execute(self, command: types.Command) -> Any:
        params = types.ExecuteCommandParams(command=command.command, arguments=command.arguments)
        return await self.within(self.client.workspace_execute_command_async(params))

    async def until(self, holds: Callable[[], Any], what: str) -> Any:
        """Waits for the event that makes this true; looks again whenever the server has said something."""

        async def wait() -> Any:
            while not (value := holds()):
                await self._changed.wait()
                self._changed.clear()
            return value

        try:
            return await asyncio.wait_for(wait(), PATIENCE)
        except asyncio.TimeoutError:
            raise AssertionError(f"waited {PATIENCE} s for {what}") from None

    async def within(self, reply: Any) -> Any:
        return await asyncio.wait_for(asyncio.ensure_future(reply), PATIENCE)

    def progress(self) -> list[list[str]]:
        """The kinds of each work done progress so far."""
        return [[it.kind for it in reports] for reports in self.client.progress_reports.values()]

    def heard(self) -> None:
        self._changed.set()

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.append(params)
        for uri, version, edits in changes(params.edit):
            buffer = self.buffers.get(uri)
            if buffer is None:
                return types.ApplyWorkspaceEditResult(applied=False, failure_reason=f"{uri} is not open")
            if version is not None and version != buffer.version:
                return types.ApplyWorkspaceEditResult(applied=False, failure_reason=f"{uri} is at version {buffer.version}")
            buffer.text = replaced(buffer.text, edits, self.encoding)
            buffer.version += 1
            # Whole text: a client may send that, and the server must take it as well as ranges.
            self._tell(uri, [types.TextDocumentContentChangeWholeDocument(text=buffer.text)])
        return types.ApplyWorkspaceEditResult(applied=True)

    def _tell(self, uri: str, change: list[Any]) -> None:
        identifier = types.VersionedTextDocumentIdentifier(version=self.buffers[uri].version, uri=uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, change))


def changes(edit: types.WorkspaceEdit) -> list[tuple[str, int | None, list[types.TextEdit]]]:
    """The text edits in either of the two forms in which a workspace edit may come."""
    out: list[tuple[str, int | None, list[types.TextEdit]]] = []
    for uri, edits in (edit.changes or {}).items():
        out.append((uri, None, list(edits)))
    for change in edit.document_changes or []:
        assert isinstance(change, types.TextDocumentEdit), f"this editor has no files to create, rename or delete: {change}"
        out.append((change.text_document.uri, change.text_document.version, list(change.edits)))
    return out


def replaced(text: str, edits: list[types.TextEdit], encoding: str) -> str:
    """All ranges are of the text before; so the last is replaced first."""
    for edit in sorted(edits, key=lambda it: (it.range.start.line, it.range.start.character), reverse=True):
        start, end = offset(text, edit.range.start, encoding), offset(text, edit.range.end, encoding)
        text = text[:start] + edit.new_text + text[end:]
    return text


def offset(text: str, position: types.Position, encoding: str) -> int:
    """A position as an index into `text`; a character past the end of its line is the line's end."""
    codec, width = UNITS[encoding]
    lines = text.split("\n")
    assert position.line < len(lines), f"line {position.line} is past the end"
    line = lines[position.line].removesuffix("\r")
    before = line.encode(codec)[: position.character * width]
    # A position inside of a character is the server's error; strict decoding says so.
    return sum(len(it) + 1 for it in lines[: position.line]) + len(before.decode(codec))


async def start(profile: str, folder: Path, log: Path, environment: dict[str, str]) -> Editor:
    """Starts the server behind the tee, with an editor that has this profile; `initialize` is still to come."""
    server = os.environ.get("UNDINE_BIN")
    assert server, "UNDINE_BIN must name the server's binary; tests/run sets it"
    config = ClientServerConfig(
        client_factory=new_client,
        server_command=[sys.executable, str(TEE), str(log), server, "lsp"],
        server_env={**os.environ, **environment},
    )
    client = await config.start()
    editor = Editor(client, profile, folder, log)

    @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def ask(params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        editor.asked.append(params)
        editor.heard()
        return editor.choose(list(params.actions or []))

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        result = editor._apply(params)
        editor.heard()
        return result

    hear_all(client, editor)
    return editor


def new_client() -> LanguageClient:
    """The stock client, with one repair: lsprotocol 2025.0.0 takes every code action that has a command for a bare command."""
    client = make_test_lsp_client()
    converter = client.protocol._converter

    def action_or_command(value: dict, _: Any) -> types.CodeAction | types.Command:
        bare = isinstance(value.get("command"), str)
        return converter.structure(value, types.Command if bare else types.CodeAction)

    converter.register_structure_hook(Union[types.Command, types.CodeAction], action_or_command)
    return client


def hear_all(client: LanguageClient, editor: Editor) -> None:
    """Every message of the server wakes whoever waits with `until`."""
    handle = client.protocol.handle_message

    def handle_and_tell(message: Any) -> None:
        handle(message)
        # Handlers run in later turns of the event loop; waking after them, not before.
        asyncio.get_running_loop().call_later(0, editor.heard)

    client.protocol.handle_message = handle_and_tell


async def initialize(editor: Editor, options: dict) -> None:
    editor.result = await editor.within(
        editor.client.initialize_session(
            types.InitializeParams(
                capabilities=client_capabilities(editor.profile),
                root_uri=editor.folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(editor.folder.as_uri(), editor.folder.name)],
                initialization_options=options,
            )
        )
    )
