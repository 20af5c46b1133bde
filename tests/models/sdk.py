"""Whether a request is what the vendors' own SDKs would send: each body is read by the SDK's type for it, and nothing may be left over.

    faults("messages", body)    # a list of sentences; empty: it is right
"""
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

# Below these the body holds JSON schemas and arguments, which the SDKs keep as they are or in models of their own.
FREE = {"input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema", "input", "args", "response", "arguments"}
# What compatible servers want back with their calls, and OpenAI itself does not know.
EXTENSIONS = {"reasoning_content", "reasoning_details"}
# What a vendor's server takes and its SDK does not know. Ollama cuts a history that is too long, in silence, unless it is told not to;
# its own source (`api.ChatRequest`) has the field since 2025, its Python SDK only for embeddings.
BEYOND: dict[str, dict] = {"ollama": {"truncate": False}}
MOST = 12


@cache
def types(wire: str) -> TypeAdapter:
    """Imported when it is needed: each of the SDKs takes a second."""
    if wire == "messages":
        from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as Body
    elif wire == "responses":
        from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as Body
    elif wire == "chat":
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as Body
    elif wire == "ollama":
        from ollama._types import ChatRequest as Body
    else:
        raise ValueError(wire)
    return TypeAdapter(Body)


def faults(wire: str, body: dict) -> list[str]:
    if wire == "gemini":
        return gemini(body)
    beyond = BEYOND.get(wire, {})
    body = {key: value for key, value in body.items() if key not in beyond or value != beyond[key]}
    if wire == "responses":
        if sent := [f"body.input[{at}] has {key}" for at, it in enumerate(body["input"]) for key in left_out(it) if key in it]:
            return sent[:MOST]
        body = {**body, "input": [{**left_out(it), **it} for it in body["input"]]}
    # Lists of the SDKs' types are read only while they are walked, and the adapter must live until then.
    adapter = types(wire)
    try:
        read = adapter.validate_python(body)
        plain = walked(read.model_dump(exclude_none=True, by_alias=True) if isinstance(read, BaseModel) else read)
    except ValidationError as error:
        return told(error)
    return left_over(body, plain, "body")[:MOST]


def left_out(item: dict) -> dict:
    """What the SDK's type insists on in an item of an answer, and must not be sent: the id, which with `store: false` names what the
    provider has not kept (spec 17.4), and a message's status, which comes only with an id. All else of the item is judged."""
    match item.get("type"):
        case "reasoning":
            return {"id": "rs_0"}
        case "message" if item.get("role") == "assistant":
            return {"id": "msg_0", "status": "completed"}
        case _:
            return {}


def gemini(body: dict) -> list[str]:
    """Google's SDK has no type of a whole request, but one of each part; they refuse what they do not know."""
    from google.genai import types

    found: list[str] = []

    def read(model: type[BaseModel], part: Any, path: str) -> None:
        try:
            model.model_validate(part)
        except ValidationError as error:
            found.extend(f"{path}: {it}" for it in told(error))

    for at, content in enumerate(body.get("contents", [])):
        read(types.Content, content, f"contents[{at}]")
    for at, tool in enumerate(body.get("tools", [])):
        read(types.Tool, tool, f"tools[{at}]")
    if "systemInstruction" in body:
        read(types.Content, body["systemInstruction"], "systemInstruction")
    if "generationConfig" in body:
        read(types.GenerationConfig, body["generationConfig"], "generationConfig")
    if "toolConfig" in body:
        read(types.ToolConfig, body["toolConfig"], "toolConfig")
    known = {"contents", "tools", "systemInstruction", "generationConfig", "toolConfig", "safetySettings", "cachedContent", "serviceTier"}
    found.extend(f"{it} is no field of a request" for it in body if it not in known)
    return found[:MOST]


def told(error: ValidationError) -> list[str]:
    return [f"{'.'.join(map(str, it['loc']))}: {it['msg']}" for it in error.errors()][:MOST]


def walked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: walked(it) for key, it in value.items()}
    if value is None or isinstance(value, (str, bool, int, float, bytes)):
        return value
    try:
        return [walked(it) for it in value]
    except TypeError:
        return value


def left_over(sent: Any, read: Any, path: str) -> list[str]:
    """What of `sent` is not in `read`."""
    if isinstance(sent, dict) and isinstance(read, dict):
        found = []
        for key, value in sent.items():
            if key in EXTENSIONS:
                continue
            if key not in read:
                found.append(f"{path}.{key} is not in the SDK's type")
            # The conversation of Responses is an `input` too, and not free.
            elif key not in FREE or path == "body":
                found += left_over(value, read[key], f"{path}.{key}")
        return found
    if isinstance(sent, list) and isinstance(read, list):
        pairs = enumerate(zip(sent, read))
        found = [it for at, (one, other) in pairs for it in left_over(one, other, f"{path}[{at}]")]
        return found + ([f"{path}: {len(sent)} became {len(read)}"] if len(sent) != len(read) else [])
    return [] if sent == read else [f"{path}: {sent!r:.80} became {read!r:.80}"]
