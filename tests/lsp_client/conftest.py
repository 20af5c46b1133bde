"""Fixtures: a scripted model, and an editor of each profile whose whole conversation is checked when the test has ended."""
import json
from pathlib import Path
from typing import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from check_messages import check
from editor import Editor, initialize, start
from pytest_lsp import LspSpecificationWarning
from scripted_model import ScriptedModel

PROFILES = {"neovim": "neovim@v0.11.0", "vscode": "visual-studio-code@v1.65.2", "emacs": "emacs@v29.1"}


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    model = ScriptedModel()
    yield model
    model.close()


def environment(home: Path, model: ScriptedModel) -> tuple[dict[str, str], dict]:
    """Folders of its own for the server, with a configuration file, and the same configuration as JSON.

    What names a provider's address is taken from the person's file only; the editor sends it too, as real editors do.
    """
    config, data = home / "config", home / "data"
    config.mkdir()
    data.mkdir()
    options = {
        "default_model": {"provider": "scripted", "name": "scripted-1"},
        "providers": {"scripted": {"kind": "openai-compatible", "base_url": model.url}},
    }
    (config / "config.toml").write_text(
        '[default_model]\nprovider = "scripted"\nname = "scripted-1"\n\n'
        f'[providers.scripted]\nkind = "openai-compatible"\nbase_url = {json.dumps(model.url)}\n'
    )
    return {"UNDINE_CONFIG_DIR": str(config), "UNDINE_DATA_DIR": str(data), "UNDINE_NO_KEYRING": "1"}, options


@pytest_asyncio.fixture(params=PROFILES)
async def editor(request: pytest.FixtureRequest, tmp_path: Path, model: ScriptedModel, recwarn: pytest.WarningsRecorder) -> AsyncIterator[Editor]:
    """Initialized, in the folder of a small Rust project. After the test: shutdown, exit, and the check of all messages."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.rs").write_text("fn main() {\n    greet();\n}\n\n// Grüße 🙂\nfn greet() {}\n")
    log = tmp_path / "messages.jsonl"
    variables, options = environment(tmp_path, model)
    editor = await start(PROFILES[request.param], folder, log, variables)
    try:
        await initialize(editor, options)
        yield editor
        await editor.within(editor.client.shutdown_session())
        exit_code = editor.client._server.returncode
    finally:
        await editor.client.stop()
    conversation = check(log, strict=True)
    # The client's own messages come from pytest-lsp; what it does wrong is not our server's doing.
    assert [it for it in conversation.problems if ": s->c " in it] == []
    # pytest-lsp warns when the server uses what the client said it cannot do.
    assert [str(it.message) for it in recwarn if issubclass(it.category, LspSpecificationWarning)] == []
    assert exit_code == 0, "after shutdown, exit ends the server with 0"
