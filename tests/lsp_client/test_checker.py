"""The checker finds planted faults, and finds none in a conversation that is right."""
import json

import pytest
from check_messages import Conversation

ASK = {"type": 3, "message": "Run it?", "actions": [{"title": "Allow once"}]}
AT = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
GOOD = [
    ("c->s", {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}),
    ("s->c", {"id": 1, "result": {"capabilities": {"positionEncoding": "utf-8", "codeActionProvider": {"resolveProvider": True}}}}),
    ("c->s", {"method": "initialized", "params": {}}),
    ("c->s", {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///a", "languageId": "", "version": 0, "text": "x"}}}),
    ("s->c", {"id": 1, "method": "window/workDoneProgress/create", "params": {"token": "turn"}}),
    ("c->s", {"id": 1, "result": None}),
    ("s->c", {"method": "$/progress", "params": {"token": "turn", "value": {"kind": "begin", "title": "Undine"}}}),
    ("s->c", {"id": "ask", "method": "window/showMessageRequest", "params": ASK}),
    ("c->s", {"id": "ask", "result": {"title": "Allow once"}}),
    ("s->c", {"method": "session/update", "params": {"anything": 1}}),
    ("s->c", {"method": "$/progress", "params": {"token": "turn", "value": {"kind": "end"}}}),
    ("c->s", {"id": 2, "method": "undine/review/list", "params": {}}),
    ("s->c", {"id": 2, "error": {"code": -32603, "message": "There is no such file."}}),
    ("c->s", {"id": 3, "method": "shutdown"}),
    ("s->c", {"id": 3, "result": None}),
    ("c->s", {"method": "exit"}),
]


def line(direction: str, message: dict) -> str:
    return json.dumps({"dir": direction, "m": {"jsonrpc": "2.0", **message}})


def problems(lines: list[str], strict: bool = False) -> list[str]:
    conversation = Conversation(strict)
    for it in lines:
        conversation.line(it)
    conversation.end()
    return conversation.problems


def planted(*extra: tuple[str, dict], strict: bool = False) -> list[str]:
    """The good conversation with these messages before its shutdown; where they stand is taken off the problems."""
    lines = [line(*it) for it in (*GOOD[:-3], *extra, *GOOD[-3:])]
    return [it.split(": ", 1)[1] for it in problems(lines, strict)]


@pytest.mark.parametrize("strict", [False, True])
def test_a_good_conversation_has_no_problems(strict):
    assert problems([line(*it) for it in GOOD], strict) == []


FAULTS = {
    "a request that goes the wrong way": (
        [("c->s", {"id": 9, "method": "workspace/applyEdit", "params": {"edit": {}}}), ("s->c", {"id": 9, "result": {"applied": True}})],
        ["c->s workspace/applyEdit: goes the wrong way"],
    ),
    "a wrong type deep inside the parameters": (
        [("s->c", {"method": "textDocument/publishDiagnostics", "params": {"uri": "file:///a", "diagnostics": [{"range": {**AT, "end": {"line": -1, "character": 0}}, "message": "m"}]}})],
        ["s->c textDocument/publishDiagnostics: params.diagnostics[0].range.end.line is -1, not an uinteger"],
    ),
    "a missing parameter": (
        [("s->c", {"method": "window/showMessage", "params": {"message": "m"}})],
        ["s->c window/showMessage: params.type is missing"],
    ),
    "a value outside of its enumeration": (
        [("s->c", {"method": "window/showMessage", "params": {"type": 9, "message": "m"}})],
        ["s->c window/showMessage: params.type is 9, not a value of MessageType"],
    ),
    "a result of the wrong type": (
        [("c->s", {"id": 9, "method": "textDocument/codeAction", "params": {"textDocument": {"uri": "file:///a"}, "range": AT, "context": {"diagnostics": []}}}), ("s->c", {"id": 9, "result": [{"title": 5}]})],
        ["s->c reply to textDocument/codeAction: result[0].title is 5, not a string"],
    ),
    "both a result and an error": (
        [("c->s", {"id": 9, "method": "undine/models", "params": {}}), ("s->c", {"id": 9, "result": None, "error": {"code": 1, "message": "m"}})],
        ["s->c reply to undine/models: must have exactly one of result and error"],
    ),
    "neither a result nor an error": (
        [("c->s", {"id": 9, "method": "undine/models", "params": {}}), ("s->c", {"id": 9})],
        ["s->c reply to undine/models: must have exactly one of result and error"],
    ),
    "a request without a reply": (
        [("s->c", {"id": 9, "method": "workspace/codeLens/refresh"})],
        ["c->s reply to workspace/codeLens/refresh: is missing (id 9)"],
    ),
    "a reply that nobody asked for": (
        [("s->c", {"id": 77, "result": None})],
        ["s->c reply: answers the id 77, which nobody asked with"],
    ),
    "a second reply": (
        [("c->s", {"id": 9, "method": "undine/models", "params": {}}), ("s->c", {"id": 9, "result": None}), ("s->c", {"id": 9, "result": None})],
        ["s->c reply: answers the id 9, which nobody asked with"],
    ),
    "an error whose code is a string": (
        [("c->s", {"id": 9, "method": "session/new", "params": {}}), ("s->c", {"id": 9, "error": {"code": "-32603", "message": "m"}})],
        ["s->c reply to session/new: error.code is \"-32603\", not an integer"],
    ),
    "an unknown method": (
        [("s->c", {"method": "window/showMessages", "params": {}})],
        ["s->c window/showMessages: is no method of the specification and none of ours"],
    ),
    "a notification sent as a request": (
        [("s->c", {"id": 9, "method": "window/logMessage", "params": {"type": 3, "message": "m"}}), ("c->s", {"id": 9, "result": None})],
        ["s->c window/logMessage: must have no id"],
    ),
    "progress that nobody made": (
        [("s->c", {"method": "$/progress", "params": {"token": 5, "value": {"kind": "begin", "title": "t"}}})],
        ["s->c $/progress: nobody made the token 5"],
    ),
    "progress after its end": (
        [("s->c", {"method": "$/progress", "params": {"token": "turn", "value": {"kind": "report"}}})],
        ["s->c $/progress: progress \"turn\" has ended"],
    ),
    "a progress value of no kind": (
        [("s->c", {"method": "$/progress", "params": {"token": "turn", "value": {"kind": "done"}}})],
        ["s->c $/progress: params.value.kind is \"done\", not begin, report or end"],
    ),
    "a registration of an unknown method": (
        [("s->c", {"id": 9, "method": "client/registerCapability", "params": {"registrations": [{"id": "1", "method": "textDocument/hoover"}]}}), ("c->s", {"id": 9, "result": None})],
        ["s->c client/registerCapability: params.registrations[0].method is 'textDocument/hoover', which is no method of the specification"],
    ),
    "registration options of the wrong type": (
        [("s->c", {"id": 9, "method": "client/registerCapability", "params": {"registrations": [{"id": "1", "method": "workspace/didChangeWatchedFiles", "registerOptions": {}}]}}), ("c->s", {"id": 9, "result": None})],
        ["s->c client/registerCapability: params.registrations[0].registerOptions.watchers is missing"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name):
    messages, expected = FAULTS[name]
    assert planted(*messages) == expected


def test_only_strict_minds_an_unknown_property():
    message = ("s->c", {"method": "window/showMessage", "params": {"type": 3, "message": "m", "colour": "red"}})
    assert planted(message) == []
    assert planted(message, strict=True) == ["s->c window/showMessage: params.colour is not in the specification"]


def test_strict_minds_an_unknown_property_in_one_of_several_alternatives():
    edit = {"documentChanges": [{"textDocument": {"uri": "file:///a", "version": 1}, "edits": [{"range": AT, "newText": "y", "annotationID": "a"}]}]}
    messages = [("s->c", {"id": 9, "method": "workspace/applyEdit", "params": {"edit": edit}}), ("c->s", {"id": 9, "result": {"applied": True}})]
    assert planted(*messages) == []
    assert planted(*messages, strict=True) == ["s->c workspace/applyEdit: params.edit.documentChanges[0].edits[0].annotationID is not in the specification"]


def test_a_server_must_not_speak_before_initialize_is_answered():
    lines = [line(*GOOD[0]), line("s->c", {"method": "session/update", "params": {}}), line(*GOOD[1])]
    assert problems(lines) == ["line 2: s->c session/update: is sent before initialize is answered"]


def test_bytes_that_are_no_message_are_a_problem():
    assert problems([json.dumps({"dir": "s->c", "raw": "panicked at main.rs"})]) == ['line 1: s->c bytes: are no message: "panicked at main.rs"']


def test_a_message_needs_the_version_of_json_rpc():
    assert problems([json.dumps({"dir": "s->c", "m": {"method": "window/logMessage", "params": {"type": 3, "message": "m"}}})]) == [
        'line 1: s->c window/logMessage: has no "jsonrpc": "2.0"'
    ]
