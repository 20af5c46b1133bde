"""The wire formats, as the tests of this folder configure and check them.

A wire is a name here, the `kind` of a provider in the configuration, and the SDK type that its requests must be of.
"""
from dataclasses import dataclass
from pathlib import Path

MODEL = "scripted-1"


@dataclass(frozen=True)
class Wire:
    name: str
    kind: str
    # Whether the vendor's own tools are offered: those of the wires that have some.
    natives: bool = False


MESSAGES = Wire("messages", "anthropic", natives=True)
RESPONSES = Wire("responses", "openai", natives=True)
CHAT = Wire("chat", "openai-compatible")
GEMINI = Wire("gemini", "gemini")
OLLAMA = Wire("ollama", "ollama")
ALL = [MESSAGES, RESPONSES, CHAT, GEMINI, OLLAMA]


def configure(home: Path, wire: Wire, base_url: str, model: str = MODEL, more: str = "") -> None:
    """Writes the configuration of a server that speaks this wire to this address. `more` is further TOML."""
    for folder in ("config", "data"):
        (home / folder).mkdir(exist_ok=True)
    natives = "true" if wire.natives else "false"
    (home / "config" / "config.toml").write_text(
        f'[default_model]\nprovider = "judge"\nname = "{model}"\n\n'
        f'[providers.judge]\nkind = "{wire.kind}"\nbase_url = "{base_url}"\nnative_tools = {natives}\n\n{more}'
    )
