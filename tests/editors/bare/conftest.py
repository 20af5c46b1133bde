"""One scene a test: a project, a scripted model, the real server, and a person at the editor that EDITOR names.

    EDITOR=neovim PROGRAM=/path/to/nvim UNDINE_BIN=target/debug/undine pytest tests/editors/bare
"""
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import person as people
import pytest
from check_messages import check
from person import Person
from scripted_model import ScriptedModel
from wire import Wire

PEOPLE = {"neovim": people.Neovim, "helix": people.Helix, "emacs": people.Emacs}
TEXT = "import os\ndef greet(name):\n    return 'Hello'\n\n\ndef part():\n    return 'Bye'\n"


@dataclass
class Scene:
    person: Person
    model: ScriptedModel
    wire: Wire
    folder: Path

    def read(self, name: str = "shop.py") -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    kind = PEOPLE[os.environ["EDITOR"]]
    folder, home = tmp_path / "project", tmp_path / "home"
    (folder / ".git").mkdir(parents=True)
    (folder / "shop.py").write_text(TEXT)
    home.mkdir()
    model = ScriptedModel()
    wire = Wire(tmp_path, [os.environ["UNDINE_BIN"], "lsp"], environment(tmp_path, model))
    terminal = kind.start(os.environ["PROGRAM"], home, folder, "shop.py", wire)
    person = kind(terminal, wire, folder)
    try:
        wire.sent("textDocument/didOpen")
        person.sees("Hello")
        yield Scene(person, model, wire, folder)
        person.quits()
        terminal.ended()
        wire.ended()
    except BaseException:
        print(terminal.picture())
        raise
    finally:
        terminal.close()
        wire.close()
    model.close()
    problems = check(wire.log, strict=True).problems
    # What the editor itself does wrong is not our server's doing. An editor that leaves without waiting for the reply to `shutdown` takes
    # the server with it.
    assert [it for it in problems if ": s->c " in it and "reply to shutdown: is missing" not in it] == []


def environment(home: Path, model: ScriptedModel) -> dict[str, str]:
    """Folders of its own for the server, with a configuration that names the scripted model."""
    config, data = home / "config", home / "data"
    config.mkdir()
    data.mkdir()
    (config / "config.toml").write_text(
        '[default_model]\nprovider = "scripted"\nname = "scripted-1"\n\n'
        f'[providers.scripted]\nkind = "openai-compatible"\nbase_url = {json.dumps(model.url)}\n\n'
        # How long an editor may take to tell of an edit that it says it has made.
        "[limits]\nedit_settle_ms = 6000\n"
    )
    return {"UNDINE_CONFIG_DIR": str(config), "UNDINE_DATA_DIR": str(data), "UNDINE_NO_KEYRING": "1"}
