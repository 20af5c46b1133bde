"""The tee passes every byte through and logs whole messages, however the bytes are cut."""
import json
import subprocess
import sys
from pathlib import Path

from tee import Framer

TEE = Path(__file__).with_name("tee.py")


def frame(message: dict) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "hello", "params": {"text": "käse"}}
BYE = {"jsonrpc": "2.0", "method": "bye"}


def entries(data: bytes, size: int) -> list[dict]:
    framer = Framer("c->s")
    out = []
    for start in range(0, len(data), size):
        out += framer.feed(data[start : start + size])
    return out + list(framer.rest())


def test_any_cutting_of_the_bytes_gives_the_same_messages():
    data = frame(HELLO) + frame(BYE)
    for size in range(1, len(data) + 1):
        assert entries(data, size) == [{"dir": "c->s", "m": HELLO}, {"dir": "c->s", "m": BYE}], size


def test_what_is_printed_between_frames_is_logged_as_such():
    assert entries(b"starting up\n" + frame(HELLO) + b"oops", 1 << 16) == [
        {"dir": "c->s", "raw": "starting up\n"},
        {"dir": "c->s", "m": HELLO},
        {"dir": "c->s", "raw": "oops"},
    ]


def test_a_frame_that_holds_no_json_is_logged_as_such():
    assert entries(b"Content-Length: 4\r\n\r\n{{{{" + frame(BYE), 1 << 16) == [{"dir": "c->s", "raw": "{{{{"}, {"dir": "c->s", "m": BYE}]


def test_bytes_and_the_exit_code_come_through(tmp_path):
    log = tmp_path / "log.jsonl"
    echo = [sys.executable, "-c", "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data); sys.exit(7)"]
    data = frame(HELLO) + frame(BYE)
    done = subprocess.run([sys.executable, TEE, log, *echo], input=data, capture_output=True, timeout=60)
    assert (done.stdout, done.returncode) == (data, 7)
    assert [json.loads(it) for it in log.read_text().splitlines()] == [
        {"dir": direction, "m": message} for direction in ("c->s", "s->c") for message in (HELLO, BYE)
    ]
