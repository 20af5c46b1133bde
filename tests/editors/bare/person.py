"""A person at an editor: what each editor has to offer, in the words of the tests. One class an editor, each with its quirks."""
import re
from pathlib import Path

from terminal import Terminal
from wire import Wire

ESCAPE, ENTER, DOWN = "\x1b", "\r", "\x1b[B"


class Person:
    """Sits before a running editor with one file open."""

    def __init__(self, terminal: Terminal, wire: Wire, folder: Path):
        self.terminal, self.wire, self.folder = terminal, wire, folder

    def sees(self, text: str) -> None:
        self.terminal.wait(lambda rows: any(text in it for it in rows), f"{text!r} on the screen")

    def sees_no(self, text: str) -> None:
        self.terminal.wait(lambda rows: not any(text in it for it in rows), f"no {text!r} on the screen")

    def reads(self, message: str) -> None:
        """Reads a message where one must, to go on."""

    def saves(self, name: str) -> str:
        """Saves the buffer that is shown, and returns what the file holds then."""
        n = self.wire.count("textDocument/didSave")
        self.save()
        self.wire.sent("textDocument/didSave", n + 1)
        return (self.folder / name).read_text()

    # What each editor does in its own way:

    def save(self) -> None:
        raise NotImplementedError

    def opens(self, name: str) -> None:
        """Shows a file and waits until the server knows it."""
        raise NotImplementedError

    def goes_to(self, line: int) -> None:
        raise NotImplementedError

    def types(self, line: int, text: str) -> None:
        """Types at the end of a line, and waits until the server knows."""
        raise NotImplementedError

    def undoes(self) -> None:
        raise NotImplementedError

    def sees_mark(self, line: int, text: str) -> None:
        """Goes to the line, and sees the diagnostic there that says this."""
        raise NotImplementedError

    def offered(self) -> list[str]:
        """The code actions here; none is taken."""
        raise NotImplementedError

    def takes(self, title: str) -> None:
        """Takes the code action whose title begins like this, at the cursor."""
        raise NotImplementedError

    def answers(self, message: str, label: str) -> None:
        """Answers the question with this message."""
        raise NotImplementedError

    def closes(self, message: str) -> None:
        """Closes the question with this message without an answer."""
        raise NotImplementedError

    def cancels(self) -> None:
        """Runs the command that cancels what runs."""
        raise NotImplementedError

    def quits(self) -> None:
        raise NotImplementedError


class Neovim(Person):
    """Neovim's own client and menus: `vim.lsp.buf.code_action()`, which `gra` is too, and `vim.ui.select` as it is, a numbered list.

    Quirks:
    - Most messages end in "Press ENTER", and the next key only leaves that; a colon begins a command there too, so all is done by commands.
    - What a diagnostic says is shown on demand only (`CTRL-W d`); by itself there is a letter at the line.
    - An edit with a stale version is dropped, and answered with applied:true all the same. It says so in a message; where that is
      longer than a line, the answer waits until the person has pressed Enter.
    - The first version of a document is 0, and an edit for version 0 is not checked: so the server says 1, see `Client::named`.
    """

    @staticmethod
    def start(program: str, home: Path, folder: Path, name: str, wire: Wire) -> Terminal:
        init = home / "init.lua"
        command = ", ".join(f"[[{it}]]" for it in wire.command)
        init.write_text(
            # Else it asks several Pythons whether they serve it, when a Python file is opened.
            "vim.g.loaded_python3_provider = 0\n"
            "vim.o.swapfile = false\n"
            f"vim.lsp.config('undine', {{ cmd = {{ {command} }}, filetypes = {{ 'python' }}, root_markers = {{ '.git' }} }})\n"
            "vim.lsp.enable('undine')\n"
        )
        return Terminal([program, "-u", str(init), "-i", "NONE", name], folder, {"XDG_STATE_HOME": str(home / "state")})

    def reads(self, message: str) -> None:
        # A message that comes while a command is typed waits for Enter behind it, and till then the editor does nothing.
        self.sees(message)

    def save(self) -> None:
        self.terminal.keys(":silent w", ENTER)

    def opens(self, name: str) -> None:
        n = self.wire.count("textDocument/didOpen")
        self.terminal.keys(f":silent e {name}", ENTER)
        self.wire.sent("textDocument/didOpen", n + 1)

    def goes_to(self, line: int) -> None:
        self.terminal.keys(f":{line}", ENTER)

    def types(self, line: int, text: str) -> None:
        n = self.wire.count("textDocument/didChange")
        self.goes_to(line)
        self.terminal.keys(f"A{text}", ESCAPE)
        self.wire.sent("textDocument/didChange", n + 1)
        self.sees(text.strip())

    def undoes(self) -> None:
        self.terminal.keys(":silent undo", ENTER)

    def sees_mark(self, line: int, text: str) -> None:
        # First, since no mark is drawn while a message waits for Enter.
        self.goes_to(line)
        self.terminal.wait(lambda rows: rows[line - 1].startswith("I "), f"a mark at line {line}")
        self.terminal.keys("\x17d")
        self.sees(text)
        self.terminal.keys("l")
        self.sees_no(text)

    def _list(self, prompt: str) -> list[str]:
        """The numbered list under this prompt."""

        def read(rows: list[str]) -> list[str] | None:
            if not any("Type number" in it for it in rows) or not any(prompt in it for it in rows):
                return None
            return [it.group(1) for it in map(re.compile(r"^\s*\d+: (.*)").match, rows) if it]

        return self.terminal.wait(read, f"the list under {prompt!r}")

    def _choose(self, prompt: str, title: str) -> None:
        titles = self._list(prompt)
        [number] = [n for n, it in enumerate(titles, 1) if it.startswith(title)][:1] or [None]
        assert number, f"no {title!r} in {titles}"
        self.terminal.keys(str(number), ENTER)
        self.sees_no("Type number")

    def offered(self) -> list[str]:
        self.terminal.keys(":lua vim.lsp.buf.code_action()", ENTER)
        titles = self._list("Code actions:")
        self.terminal.keys(ENTER)
        self.sees_no("Type number")
        return titles

    def takes(self, title: str) -> None:
        self.terminal.keys(":lua vim.lsp.buf.code_action()", ENTER)
        self._choose("Code actions:", title)

    def answers(self, message: str, label: str) -> None:
        self._choose(message, label)

    def closes(self, message: str) -> None:
        self._list(message)
        self.terminal.keys(ENTER)
        # The server says then where the question stays, which takes more than a line.
        self.sees("Press ENTER")

    def cancels(self) -> None:
        self.terminal.keys(":lua vim.lsp.get_clients()[1]:exec_cmd({ title = '', command = 'undine.task.cancel' })", ENTER)

    def quits(self) -> None:
        self.terminal.keys(":qa!", ENTER)


class Helix(Person):
    """Helix: `Space a` for code actions, questions as a menu over the text.

    Quirks:
    - It asks the terminal what it can do and waits two seconds when nothing answers.
    - A menu has no border and sorts actions by kind; a diagnostic is shown while the cursor is in it.
    - Code actions are for the selection, which at least is the character under the cursor.
    - A new line after a comment begins as a comment too.
    - An edit with a stale version is answered with applied:false.
    """

    @staticmethod
    def start(program: str, home: Path, folder: Path, name: str, wire: Wire) -> Terminal:
        config = home / "helix"
        config.mkdir()
        # What is chosen in a menu is shown in a way that the screen's reader can tell from colours.
        (config / "themes").mkdir()
        (config / "themes/plain.toml").write_text('inherits = "default"\n"ui.menu.selected" = { modifiers = ["reversed"] }\n')
        (config / "config.toml").write_text('theme = "plain"\n[editor.lsp]\ndisplay-messages = true\n')
        first, *rest = wire.command
        (config / "languages.toml").write_text(
            f'[language-server.undine]\ncommand = "{first}"\nargs = {rest}\n\n'
            '[[language]]\nname = "python"\nlanguage-servers = ["undine"]\nroots = []\n'
        )
        runtime = Path(program).parent / "root/usr/lib/hx/runtime"
        environment = {"XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "HELIX_RUNTIME": str(runtime)}
        return Terminal([program, name], folder, environment)

    def save(self) -> None:
        self.terminal.keys(":w", ENTER)

    def opens(self, name: str) -> None:
        n = self.wire.count("textDocument/didOpen")
        self.terminal.keys(f":o {name}", ENTER)
        self.wire.sent("textDocument/didOpen", n + 1)

    def goes_to(self, line: int) -> None:
        self.terminal.keys(f"{line}ggghl")

    def types(self, line: int, text: str) -> None:
        n = self.wire.count("textDocument/didChange")
        self.terminal.keys(f"{line}ggA{text}")
        self.sees(text.strip())
        self.terminal.keys(ESCAPE)
        self.wire.sent("textDocument/didChange", n + 1)
        self.sees("NOR")

    def undoes(self) -> None:
        self.terminal.keys("u")

    def sees_mark(self, line: int, text: str) -> None:
        self.goes_to(line)
        self.sees(text)

    def _choose(self, title: str) -> None:
        """Goes down in the menu until this is chosen."""
        for _ in range(30):
            row = self._chosen()
            if row.startswith(title):
                self.terminal.keys(ENTER)
                # A question may come up at once, with a menu of its own.
                self.terminal.wait(lambda _: self.terminal.reversed_text().strip() != row, "the menu closed")
                return
            self.terminal.keys(DOWN)
            self.terminal.wait(lambda _: self._chosen() != row, "another entry chosen")
        raise AssertionError(f"no {title!r} in the menu; the screen shows:\n{self.terminal.picture()}")

    def _chosen(self) -> str:
        return self.terminal.wait(lambda _: self.terminal.reversed_text().strip(), "a menu")

    def offered(self) -> list[str]:
        n = self.wire.count("textDocument/codeAction")
        self.terminal.keys(" a")
        actions = self.wire.reply("textDocument/codeAction", n + 1)["result"]
        self._chosen()
        titles = [it["title"] for it in actions]
        for it in titles:
            # The menu cuts what is too long for it.
            self.sees(it[:40])
        self.terminal.keys(ESCAPE)
        self.terminal.wait(lambda _: not self.terminal.reversed_text(), "the menu closed")
        return titles

    def takes(self, title: str) -> None:
        self.terminal.keys(" a")
        self._choose(title)

    def answers(self, message: str, label: str) -> None:
        self.sees(message)
        self._choose(label)

    def closes(self, message: str) -> None:
        self.sees(message)
        self._chosen()
        n = self.wire.count("window/showMessage")
        self.terminal.keys(ESCAPE)
        self.terminal.wait(lambda _: not self.terminal.reversed_text(), "the menu closed")
        # The server says then where the question stays.
        self.wire.sent("window/showMessage", n + 1)

    def cancels(self) -> None:
        self.terminal.keys(":lsp-workspace-command undine.task.cancel", ENTER)

    def quits(self) -> None:
        self.terminal.keys(":qa!", ENTER)


class Emacs(Person):
    """Emacs in a terminal with Eglot: `M-x eglot-code-actions`, questions in the minibuffer.

    Quirks:
    - The minibuffer of a question begins with its first option written in; Enter alone takes that. So No comes first.
    - Space completes in the minibuffer, so titles are pasted.
    - Typing is told half a second later, or before the next request: when Emacs has been idle. After a question that came while nothing
      was done it is not idle until the next key, so the person moves after an answer. See `Client::named`.
    - C-g is the terminal's interrupt key: the system throws away what is under way to the screen, which then shows what has gone.
      `C-]` leaves the minibuffer in the same way without that.
    - An edit with a stale version, and a question left without an answer, are answered with an error.
    """

    @staticmethod
    def start(program: str, home: Path, folder: Path, name: str, wire: Wire) -> Terminal:
        root = Path(program).parent / "root/usr"
        [share] = (root / "share/emacs").glob("[0-9]*")
        [libexec] = (root / "libexec/emacs").glob("*/*")
        [dump] = libexec.glob("*.pdmp")
        command = " ".join(f'"{it}"' for it in wire.command)
        init = home / "init.el"
        init.write_text(
            "(require 'eglot)\n"
            f"(setq eglot-server-programs '((python-mode . ({command}))))\n"
            "(add-hook 'python-mode-hook 'eglot-ensure)\n"
            # Emacs's own housekeeping; code is not compiled in the background while a test runs.
            "(setq inhibit-startup-screen t make-backup-files nil create-lockfiles nil auto-save-default nil"
            " native-comp-jit-compilation nil ring-bell-function 'ignore)\n"
        )
        environment = {
            "HOME": str(home),
            # It was built for /usr, and looks there.
            "EMACSLOADPATH": str(share / "lisp"),
            "EMACSDATA": str(share / "etc"),
            "EMACSDOC": str(share / "etc"),
            "EMACSPATH": str(libexec),
        }
        return Terminal([program, f"--dump-file={dump}", "-nw", "-Q", "-l", str(init), name], folder, environment)

    def _command(self, name: str) -> None:
        self.terminal.keys(ESCAPE + "x")
        self.sees("M-x")
        self.terminal.keys(name, ENTER)

    def save(self) -> None:
        self.terminal.keys("\x18\x13")

    def opens(self, name: str) -> None:
        n = self.wire.count("textDocument/didOpen")
        self.terminal.keys("\x18\x06")
        self.sees("Find file:")
        self.terminal.keys("\x01\x0b", str(self.folder / name), ENTER)
        self.wire.sent("textDocument/didOpen", n + 1)

    def goes_to(self, line: int) -> None:
        self.terminal.keys(ESCAPE + "gg")
        self.sees("Goto line")
        self.terminal.keys(str(line), ENTER)
        self.sees_no("Goto line")

    def types(self, line: int, text: str) -> None:
        self.goes_to(line)
        n = self.wire.count("textDocument/didChange")
        self.terminal.keys("\x05")
        self.terminal.keys(text)
        self.sees(text.strip())
        self.wire.sent("textDocument/didChange", n + 1)

    def undoes(self) -> None:
        self.terminal.keys("\x1f")

    def sees_mark(self, line: int, text: str) -> None:
        self.goes_to(line)
        self.sees(text)

    def _write(self, prompt: str, text: str) -> None:
        self.sees(prompt)
        self.terminal.paste(text)
        # A line that is too long goes on in the next row, after a backslash. Enter in the same breath as a paste would be lost.
        self.terminal.wait(lambda rows: "".join(it.rstrip("\\") for it in rows).endswith(text), f"{text!r} in the minibuffer")
        self.terminal.keys(ENTER)
        self.sees_no(prompt)

    def offered(self) -> list[str]:
        n = self.wire.count("textDocument/codeAction")
        self._command("eglot-code-actions")
        actions = self.wire.reply("textDocument/codeAction", n + 1)["result"]
        self.sees("Pick an action")
        self.terminal.keys("\x1d")
        self.sees_no("Pick an action")
        return [it["title"] for it in actions]

    def takes(self, title: str) -> None:
        n = self.wire.count("textDocument/codeAction")
        self._command("eglot-code-actions")
        titles = [it["title"] for it in self.wire.reply("textDocument/codeAction", n + 1)["result"]]
        fitting = [it for it in titles if it.startswith(title)]
        assert fitting, f"no {title!r} in {titles}"
        self._write("Pick an action", fitting[0])

    def answers(self, message: str, label: str, and_moves: bool = True) -> None:
        self.sees(message)
        n = self.wire.count("window/showMessageRequest")
        actions = self.wire.sent("window/showMessageRequest", n)["actions"]
        [title, *_] = [it["title"] for it in actions if it["title"].startswith(label)]
        self.sees("Choose an option")
        # Where there is nothing to clear, these keys would be an error, and that throws away what was typed ahead.
        self.terminal.keys("\x01\x0b")
        self._write("Choose an option", title)
        if and_moves:
            self.terminal.keys("\x06")

    def closes(self, message: str) -> None:
        self.sees(message)
        self.sees("Choose an option")
        self.terminal.keys("\x1d")
        self.sees_no("Choose an option")

    def cancels(self) -> None:
        self.terminal.keys(ESCAPE + ":")
        self.sees("Eval:")
        self.terminal.paste('(eglot-execute (eglot-current-server) \'(:command "undine.task.cancel" :arguments []))')
        self.terminal.keys(ENTER)

    def quits(self) -> None:
        self._command("kill-emacs")
