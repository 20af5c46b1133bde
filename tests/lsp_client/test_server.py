"""What any editor can do with the server without a plugin: a client nobody here wrote, with the profiles of three editors."""
import asyncio
import json

import pytest
from editor import Editor, answer
from lsprotocol import types
from pygls.exceptions import JsonRpcMethodNotFound
from scripted_model import Gate, ScriptedModel, calls, says

pytestmark = pytest.mark.asyncio

EXPLAIN, FIX = "undine.task.explain", "undine.task.fix"
# "greet" in the second line.
GREET = types.Range(types.Position(1, 4), types.Position(1, 9))


def problem(at: types.Range, message: str) -> types.Diagnostic:
    return types.Diagnostic(at, message, severity=types.DiagnosticSeverity.Error, source="rustc")


def sent(request: dict) -> str:
    """All that the model was told, as one text."""
    return json.dumps(request["messages"], ensure_ascii=False)


def tool_results(request: dict) -> list[str]:
    return [json.dumps(it["content"], ensure_ascii=False) for it in request["messages"] if it["role"] == "tool"]


async def ended(editor: Editor) -> None:
    """A turn has ended when its progress has."""
    await editor.until(lambda: any(it and it[-1] == "end" for it in editor.progress()), "the end of the turn's progress")


async def in_thread(blocking, *arguments):
    """Waits for the scripted model without stopping the client."""
    return await asyncio.to_thread(blocking, *arguments)


async def test_positions_are_utf8_where_the_client_can(editor: Editor):
    offered = editor.client.capabilities.general.position_encodings if editor.client.capabilities.general else None
    assert editor.encoding == ("utf-8" if offered and "utf-8" in offered else "utf-16")


async def test_initialize_names_what_the_server_does(editor: Editor):
    capabilities = editor.result.capabilities
    assert editor.result.server_info.name == "undine"
    assert capabilities.text_document_sync.open_close is True
    assert capabilities.text_document_sync.change == types.TextDocumentSyncKind.Incremental
    assert {EXPLAIN, FIX} <= set(capabilities.execute_command_provider.commands)
    assert capabilities.code_action_provider


async def test_an_unknown_request_is_refused_and_the_next_is_answered(editor: Editor):
    with pytest.raises(JsonRpcMethodNotFound):
        await editor.within(editor.client.protocol.send_request_async("undine/no/such/method", {}))
    await editor.actions(editor.open("src/main.rs"), GREET)


async def test_the_selection_reaches_the_model(editor: Editor, model: ScriptedModel):
    model.will(says("It calls ", "greet."))
    uri = editor.open("src/main.rs")
    await editor.execute(await editor.command(uri, GREET, EXPLAIN))
    request = await in_thread(model.request, 0)
    assert "greet" in sent(request)
    assert "src/main.rs" in sent(request)
    await ended(editor)


async def test_progress_begins_and_ends_with_the_turn(editor: Editor, model: ScriptedModel):
    gate = Gate()
    model.will(says("Thinking."), gate, says(" Done."))
    uri = editor.open("src/main.rs")
    command = asyncio.ensure_future(editor.execute(await editor.command(uri, GREET, EXPLAIN)))
    await in_thread(gate.reached.wait, 60)
    [reports] = await editor.until(lambda: [it for it in editor.progress() if it], "progress of the turn")
    assert reports[0] == "begin"
    assert "end" not in reports
    gate.opened.set()
    await command
    await ended(editor)
    [reports] = [it for it in editor.progress() if it]
    assert (reports[0], reports[-1], reports.count("begin"), reports.count("end")) == ("begin", "end", 1, 1)


async def test_the_model_reads_what_is_in_the_buffer(editor: Editor, model: ScriptedModel):
    model.will(calls("read_file", {"path": "src/main.rs"}))
    model.will(says("I see."))
    uri = editor.open("src/main.rs")
    # After the characters that every encoding counts differently.
    end_of_comment = {"utf-8": 16, "utf-16": 11, "utf-32": 10}[editor.encoding]
    at = types.Position(4, end_of_comment)
    editor.type(uri, types.Range(at, at), " from the buffer")
    assert editor.buffers[uri].text.splitlines()[4] == "// Grüße 🙂 from the buffer"
    await editor.execute(await editor.command(uri, GREET, EXPLAIN))
    [result] = tool_results(await in_thread(model.request, 1))
    assert "// Grüße 🙂 from the buffer" in result
    await ended(editor)


async def test_a_closed_file_is_read_from_disk(editor: Editor, model: ScriptedModel):
    (editor.folder / "notes.txt").write_text("on disk\n")
    model.will(calls("read_file", {"path": "notes.txt"}))
    model.will(says("I see."))
    editor.close(editor.open("notes.txt", text="never saved\n", language="text"))
    await editor.execute(await editor.command(editor.open("src/main.rs"), GREET, EXPLAIN))
    [result] = tool_results(await in_thread(model.request, 1))
    assert ("on disk" in result, "never saved" in result) == (True, False)
    await ended(editor)


async def test_cancelling_the_progress_ends_the_turn(editor: Editor, model: ScriptedModel):
    gate = Gate()
    model.will(says("Thinking."), gate, says(" Too late."))
    uri = editor.open("src/main.rs")
    command = asyncio.ensure_future(editor.execute(await editor.command(uri, GREET, EXPLAIN)))
    await in_thread(gate.reached.wait, 60)
    await editor.until(lambda: any(editor.progress()), "progress of the turn")
    [(token, [begin, *_])] = [it for it in editor.client.progress_reports.items() if it[1]]
    assert begin.cancellable is True
    editor.client.protocol.notify(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, types.WorkDoneProgressCancelParams(token))
    # The gate stays shut, so nothing but the cancel can end the turn.
    await ended(editor)
    command.add_done_callback(lambda it: it.exception())


EDIT = calls("edit_file", {"path": "src/main.rs", "target_content": "// Grüße 🙂", "replacement_content": "// Grüße 🙂🙂 und Küsse"})


async def test_an_allowed_edit_is_made_in_the_buffer(editor: Editor, model: ScriptedModel):
    model.will(EDIT)
    model.will(says("Done."))
    uri = editor.open("src/main.rs")
    wrong = problem(GREET, "cannot find function `greet`")
    await editor.execute(await editor.command(uri, GREET, FIX, [wrong]))
    [_result] = tool_results(await in_thread(model.request, 1))
    assert "cannot find function" in sent(await in_thread(model.request, 0))
    await ended(editor)
    [question] = editor.asked
    assert "src/main.rs" in question.message
    assert editor.buffers[uri].text == "fn main() {\n    greet();\n}\n\n// Grüße 🙂🙂 und Küsse\nfn greet() {}\n"
    assert len(editor.edits) == 1
    # The file belongs to the editor while it is open there.
    assert (editor.folder / "src" / "main.rs").read_text() == "fn main() {\n    greet();\n}\n\n// Grüße 🙂\nfn greet() {}\n"


async def test_a_refused_edit_is_not_made_and_the_model_is_told(editor: Editor, model: ScriptedModel):
    model.will(EDIT)
    model.will(says("Then not."))
    editor.choose = answer("No")
    uri = editor.open("src/main.rs")
    before = editor.buffers[uri].text
    await editor.execute(await editor.command(uri, GREET, FIX, [problem(GREET, "cannot find function `greet`")]))
    [result] = tool_results(await in_thread(model.request, 1))
    await ended(editor)
    assert "denied" in result.lower()
    assert (editor.buffers[uri].text, editor.edits, len(editor.asked)) == (before, [], 1)


async def changed_by_the_agent(editor: Editor, model: ScriptedModel) -> str:
    """Lets the agent change the comment, with the person's leave; its URI."""
    model.will(EDIT)
    model.will(says("Done."))
    uri = editor.open("src/main.rs")
    await editor.execute(await editor.command(uri, GREET, FIX, [problem(GREET, "cannot find function `greet`")]))
    await ended(editor)
    return uri


COMMENT = types.Range(types.Position(4, 0), types.Position(4, 0))


async def review(editor: Editor, uri: str) -> dict[str, types.CodeAction]:
    actions = await editor.actions(uri, COMMENT)
    return {it.title: it for it in actions if isinstance(it, types.CodeAction) and it.kind == "undine.review"}


async def test_a_change_is_shown_by_what_the_client_declares_and_reverted_by_its_action(editor: Editor, model: ScriptedModel):
    uri = await changed_by_the_agent(editor, model)
    document, capabilities = types.TextDocumentIdentifier(uri), editor.result.capabilities
    if capabilities.diagnostic_provider:
        report = await editor.within(editor.client.text_document_diagnostic_async(types.DocumentDiagnosticParams(document)))
        shown = report.items
    else:
        shown = await editor.until(lambda: editor.client.diagnostics.get(uri), "the diagnostic of the change")
    assert [(it.severity, it.source, it.range.start) for it in shown] == [(types.DiagnosticSeverity.Information, "undine", COMMENT.start)]
    if capabilities.code_lens_provider:
        lenses = await editor.within(editor.client.text_document_code_lens_async(types.CodeLensParams(document)))
        assert [it.command.title for it in lenses] == ["Keep", "Revert"]
    if capabilities.inlay_hint_provider:
        whole = types.Range(types.Position(0, 0), types.Position(6, 0))
        hints = await editor.within(editor.client.text_document_inlay_hint_async(types.InlayHintParams(document, whole)))
        assert [it.label for it in hints] == ["was: // Grüße 🙂"]
    action = (await review(editor, uri))["Revert this change"]
    versioned = editor.client.capabilities.workspace.workspace_edit.document_changes
    if not versioned:
        await editor.execute(action.command)
    else:
        if action.edit is None:
            action = await editor.within(editor.client.code_action_resolve_async(action))
        assert editor._apply(types.ApplyWorkspaceEditParams(action.edit)).applied
    assert "// Grüße 🙂\n" in editor.buffers[uri].text
    assert await review(editor, uri) == {}
    if not capabilities.diagnostic_provider:
        await editor.until(lambda: not editor.client.diagnostics.get(uri), "the end of the diagnostic")


async def test_a_change_is_kept_by_command(editor: Editor, model: ScriptedModel):
    uri = await changed_by_the_agent(editor, model)
    after = editor.buffers[uri].text
    await editor.execute((await review(editor, uri))["Keep this change"].command)
    assert await review(editor, uri) == {}
    assert editor.buffers[uri].text == after


async def test_shutdown_ends_a_running_turn(editor: Editor, model: ScriptedModel):
    gate = Gate()
    model.will(says("Thinking."), gate)
    uri = editor.open("src/main.rs")
    command = asyncio.ensure_future(editor.execute(await editor.command(uri, GREET, EXPLAIN)))
    await in_thread(gate.reached.wait, 60)
    # The fixture now shuts the server down, and the check of the messages sees that every request was answered.
    command.add_done_callback(lambda it: it.exception())
