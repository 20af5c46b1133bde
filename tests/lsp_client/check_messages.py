#!/usr/bin/env python3
"""Checks a logged LSP conversation, message by message, against the meta-model and JSON-RPC.

    check_messages.py [--strict] LOG.jsonl...

A log holds one {"dir": "c->s" | "s->c", "m": MESSAGE} a line, as `tee.py` writes it; bytes that are no message stand there as
"raw". Checked are: the shape of JSON-RPC, known methods and their direction, the types of parameters, results, progress
values and registrations, exactly one reply to each request, what may be sent before `initialize` is answered, and that
progress begins once and ends once. Methods of our own (`OWN`) are checked for the shape of JSON-RPC only.
Exits with 1 when there are problems.
"""
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Iterable

from metamodel import MetaModel, shown

OWN = ("session/", "undine/", "elicitation/")
SENDER = {"c->s": "clientToServer", "s->c": "serverToClient"}
OTHER = {"c->s": "s->c", "s->c": "c->s"}
# What a server may send before it has answered `initialize`.
BEFORE_INITIALIZED = {"window/showMessage", "window/logMessage", "telemetry/event", "window/showMessageRequest", "$/progress"}
PROGRESS = {"begin": "WorkDoneProgressBegin", "report": "WorkDoneProgressReport", "end": "WorkDoneProgressEnd"}


class Conversation:
    """Takes the lines of one log in order; `problems` is what was wrong, a sentence each: "line N: WHOSE WHAT: why"."""

    def __init__(self, strict: bool = False):
        self.model = MetaModel(strict)
        self.problems: list[str] = []
        self.methods: Counter[str] = Counter()
        self._line = 0
        # Requests without a reply: (sender, id) -> the request and its line.
        self._open: dict[tuple[str, str], tuple[dict, int]] = {}
        self._initialized = False
        # Work done progress by token; None: may begin, "begin": has begun, "end": has ended.
        self._progress: dict[str, str | None] = {}
        # Tokens under which a request's partial results come, with the type of these.
        self._partial: dict[str, dict] = {}

    def line(self, text: str) -> None:
        self._line += 1
        entry = json.loads(text)
        sender = entry["dir"]
        if "raw" in entry:
            self._say(sender, "bytes", [f"are no message: {shown(entry['raw'])}"])
            return
        message = entry["m"]
        if not isinstance(message, dict):
            self._say(sender, "message", [f"is {shown(message)}, not an object"])
            return
        if message.get("jsonrpc") != "2.0":
            self._say(sender, message.get("method", "reply"), ['has no "jsonrpc": "2.0"'])
        if "method" in message:
            self._call(sender, message)
        else:
            self._reply(sender, message)

    def end(self) -> None:
        """After the last line: every request must have been answered."""
        for (sender, _), (request, line) in self._open.items():
            self.problems.append(f"line {line}: {OTHER[sender]} reply to {request['method']}: is missing (id {request['id']!r})")
        self._open.clear()

    def _say(self, sender: str, what: str, problems: Iterable[str]) -> None:
        self.problems += [f"line {self._line}: {sender} {what}: {it}" for it in problems]

    def _call(self, sender: str, message: dict) -> None:
        method = message["method"]
        is_request = "id" in message
        self.methods[method] += 1
        wrong: list[str] = []
        if is_request:
            key = (sender, json.dumps(message["id"]))
            if not isinstance(message["id"], (int, str)) or isinstance(message["id"], bool):
                wrong.append(f"id is {shown(message['id'])}, not a number or a string")
            if key in self._open:
                wrong.append(f"id {message['id']!r} is still in use")
            self._open[key] = (message, self._line)
        if "params" in message and not isinstance(message["params"], (dict, list)):
            # JSON-RPC allows no null here, yet clients do send it for methods without parameters.
            if message["params"] is not None or sender == "s->c":
                wrong.append(f"params is {shown(message['params'])}, not an object or an array")
        if "result" in message or "error" in message:
            wrong.append("has both a method and a result or an error")
        if sender == "s->c" and not self._initialized and method not in BEFORE_INITIALIZED:
            wrong.append("is sent before initialize is answered")
        known = self.model.requests if is_request else self.model.notifications
        if method in known:
            wrong += self._typed(sender, known[method], message)
        elif not method.startswith(OWN):
            other = self.model.notifications if is_request else self.model.requests
            if method in other:
                wrong.append("must have no id" if is_request else "must have an id")
            else:
                wrong.append("is no method of the specification and none of ours")
        self._say(sender, method, wrong)

    def _typed(self, sender: str, known: dict, message: dict) -> list[str]:
        direction = known["messageDirection"]
        wrong = [] if direction in ("both", SENDER[sender]) else ["goes the wrong way"]
        params = message.get("params")
        if "params" in known:
            wrong += self.model.problems(known["params"], params, "params")
        elif params not in (None, {}, []):
            wrong.append(f"params is {shown(params)}, but it takes none")
        if not wrong:
            wrong = self._beyond_types(sender, known, params)
        return wrong

    def _beyond_types(self, sender: str, known: dict, params: Any) -> list[str]:
        """What the types leave open (LSPAny) and the specification says in prose."""
        method = known["method"]
        if method == "$/progress":
            return self._progressed(sender, params)
        if method == "window/workDoneProgress/create":
            self._progress[json.dumps(params["token"])] = None
        elif method == "client/registerCapability":
            return [it for i, registration in enumerate(params["registrations"]) for it in self._registered(registration, f"params.registrations[{i}]")]
        elif isinstance(params, dict):
            if "workDoneToken" in params:
                self._progress[json.dumps(params["workDoneToken"])] = None
            if "partialResultToken" in params and "partialResult" in known:
                self._partial[json.dumps(params["partialResultToken"])] = known["partialResult"]
        return []

    def _progressed(self, sender: str, params: dict) -> list[str]:
        token, value = json.dumps(params["token"]), params["value"]
        if token in self._partial:
            return self.model.problems(self._partial[token], value, "params.value")
        kind = value.get("kind") if isinstance(value, dict) else None
        if kind not in PROGRESS:
            return [f"params.value.kind is {shown(kind)}, not begin, report or end"]
        wrong = self.model.problems({"kind": "reference", "name": PROGRESS[kind]}, value, "params.value")
        if token not in self._progress:
            return wrong + [f"nobody made the token {token}"]
        before = self._progress[token]
        if kind == "begin" and before is not None:
            wrong.append(f"progress {token} begins a second time")
        if kind != "begin" and before is None:
            wrong.append(f"progress {token} has not begun")
        if before == "end":
            wrong.append(f"progress {token} has ended")
        self._progress[token] = "end" if kind == "end" else "begin"
        return wrong

    def _registered(self, registration: dict, at: str) -> list[str]:
        method = registration["method"]
        for known in (*self.model.requests.values(), *self.model.notifications.values()):
            if method in (known.get("registrationMethod"), known["method"]):
                options = known.get("registrationOptions")
                if options and registration.get("registerOptions") is not None:
                    return self.model.problems(options, registration["registerOptions"], f"{at}.registerOptions")
                return []
        return [f"{at}.method is {method!r}, which is no method of the specification"]

    def _reply(self, sender: str, message: dict) -> None:
        if "id" not in message:
            self._say(sender, "message", ["has neither a method nor an id"])
            return
        request, _ = self._open.pop((OTHER[sender], json.dumps(message["id"])), (None, 0))
        wrong = []
        if ("result" in message) == ("error" in message):
            wrong.append("must have exactly one of result and error")
        if request is None:
            # A request that could not be read is answered with the id null.
            if message["id"] is not None or "error" not in message:
                wrong.append(f"answers the id {message['id']!r}, which nobody asked with")
            self._say(sender, "reply", wrong)
            return
        method = request["method"]
        known = self.model.requests.get(method)
        if "error" in message:
            wrong += self._error(message["error"])
        elif "result" in message and known:
            wrong += self.model.problems(known["result"], message["result"], "result")
        if method == "initialize" and "result" in message:
            self._initialized = True
        self._say(sender, f"reply to {method}", wrong)

    def _error(self, error: Any) -> list[str]:
        if not isinstance(error, dict):
            return [f"error is {shown(error)}, not an object"]
        wrong = []
        if not isinstance(error.get("code"), int) or isinstance(error.get("code"), bool):
            wrong.append(f"error.code is {shown(error.get('code'))}, not an integer")
        if not isinstance(error.get("message"), str):
            wrong.append(f"error.message is {shown(error.get('message'))}, not a string")
        return wrong + [f"error.{it} is not in the specification" for it in error if it not in ("code", "message", "data")]


def check(path: str | Path, strict: bool = False) -> Conversation:
    """The whole log, ended."""
    conversation = Conversation(strict)
    with open(path, encoding="utf-8") as log:
        for line in log:
            conversation.line(line)
    conversation.end()
    return conversation


def main() -> int:
    strict = "--strict" in sys.argv
    paths = [it for it in sys.argv[1:] if it != "--strict"]
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    n_problems = 0
    for path in paths:
        conversation = check(path, strict)
        n_problems += len(conversation.problems)
        for problem in conversation.problems:
            print(f"{path}: {problem}")
        print(f"{path}: {conversation.methods.total()} calls of {len(conversation.methods)} methods, {len(conversation.problems)} problems")
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())
