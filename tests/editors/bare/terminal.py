"""A program in a terminal: keys go in, and the screen can be read as a person reads it.

Waiting is always for what the screen shows; nothing sleeps. The terminal answers the questions that programs ask it at the start
("what are you?"), since some wait two seconds for that.
"""
import fcntl
import os
import re
import signal
import struct
import subprocess
import termios
import threading
from pathlib import Path
from typing import Any, Callable

import pyte
from wire import PATIENCE

# So wide that no message with a path in it is cut, or waits for Enter.
COLUMNS, ROWS = 200, 40
# What pyte prints or stumbles over: strings for the terminal's owner (DCS, APC, PM), private sequences other than modes, and colours
# with colons. Then the beginning of such a thing, of which the end has not come yet.
FOREIGN = re.compile(rb"\x1b[P_^].*?\x1b\\|\x1b\[(?:[<=>][0-9;:]*[ -/]*[@-~]|\?[0-9;]*(?:[ -/]+[@-~]|[@-gi-km-~])|[0-9;]*:[0-9;:]*m)", re.DOTALL)
BEGUN = re.compile(rb"\x1b(?:[P_^].*|\[[0-?]*[ -/]*)?\Z", re.DOTALL)

# Emacs asks the terminal's version this way and waits two seconds for the answer; an old one means no further questions.
WHAT_ARE_YOU = b"\x1b[>0c"


class Terminal:
    def __init__(self, argv: list[str], folder: Path, environment: dict[str, str]):
        self._screen = pyte.Screen(COLUMNS, ROWS)
        self._screen.write_process_input = lambda text: self._write(text.encode())
        self._stream = pyte.ByteStream(self._screen)
        self._rest = b""
        # Guards the screen: a thread draws on it while the test reads it.
        self._changed = threading.Condition(threading.RLock())
        self._is_open = True
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        threading.Thread(target=self._draw, daemon=True).start()

    def keys(self, *keys: str) -> None:
        for it in keys:
            self._write(it.encode())

    def paste(self, text: str) -> None:
        """Text as from the clipboard: it is taken as it stands."""
        self.keys(f"\x1b[200~{text}\x1b[201~")

    def rows(self) -> list[str]:
        with self._changed:
            return [it.rstrip() for it in self._screen.display]

    def wait(self, holds: Callable[[list[str]], Any], what: str) -> Any:
        """Waits until this is true of the screen's rows, and returns it."""
        with self._changed:
            value = None

            def look() -> bool:
                nonlocal value
                value = holds([it.rstrip() for it in self._screen.display])
                return bool(value) or not self._is_open

            self._changed.wait_for(look, PATIENCE)
            assert value, f"waited {PATIENCE} s for {what}; the screen shows:\n{self.picture()}"
            return value

    def reversed_text(self) -> str:
        """What is shown in reverse on the first row that has a word of it; a cursor is no word."""
        with self._changed:
            for row in range(ROWS):
                text = "".join(it.data for _, it in sorted(self._screen.buffer[row].items()) if it.reverse).strip()
                if len(text) > 1:
                    return text
            return ""

    def picture(self) -> str:
        return "\n".join(f"|{it}" for it in self.rows())

    def ended(self) -> int:
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the editor has not ended; the screen shows:\n{self.picture()}") from None

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._master, data) :]
        except OSError:
            # The program has ended.
            pass

    def _draw(self) -> None:
        while True:
            try:
                chunk = os.read(self._master, 1 << 16)
            except OSError:
                chunk = b""
            with self._changed:
                self._is_open = bool(chunk)
                if WHAT_ARE_YOU in chunk:
                    self._write(b"\x1b[>0;10;0c")
                data = FOREIGN.sub(b"", self._rest + chunk)
                begun = BEGUN.search(data)
                self._rest = data[begun.start() :] if begun else b""
                self._stream.feed(data[: begun.start()] if begun else data)
                self._changed.notify_all()
            if not chunk:
                return
