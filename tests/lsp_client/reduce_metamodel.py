#!/usr/bin/env python3
"""Cuts the official LSP meta-model down to what a check of messages needs: names, types, directions.

    reduce_metamodel.py METAMODEL.json > metamodel.json

What is kept has the meta-model's own shape. Everything else (documentation, versions, deprecations, type names) is dropped
by naming what stays, so that a new kind of prose in a later meta-model is dropped too. One entry a line: a later version's
changes can be read as a diff.
"""
import json
import sys

KEPT = {
    "requests": ["method", "messageDirection", "params", "result", "partialResult", "errorData", "registrationMethod", "registrationOptions"],
    "notifications": ["method", "messageDirection", "params", "registrationMethod", "registrationOptions"],
    "structures": ["name", "extends", "mixins", "properties"],
    "enumerations": ["name", "type", "values", "supportsCustomValues"],
    "typeAliases": ["name", "type"],
}
KEPT_IN_PROPERTY = ["name", "type", "optional"]


def reduced(kind: str, entry: dict) -> dict:
    out = {key: entry[key] for key in KEPT[kind] if key in entry}
    if "properties" in out:
        out["properties"] = [reduced_property(it) for it in out["properties"]]
    if "values" in out:
        out["values"] = [it["value"] for it in out["values"]]
    return {key: without_prose(value) for key, value in out.items()}


def reduced_property(entry: dict) -> dict:
    return {key: entry[key] for key in KEPT_IN_PROPERTY if key in entry}


def without_prose(value):
    """Types nest, and a literal type has properties of its own."""
    if isinstance(value, list):
        return [without_prose(it) for it in value]
    if isinstance(value, dict):
        if "properties" in value:
            return {"properties": [without_prose(reduced_property(it)) for it in value["properties"]]}
        return {key: without_prose(it) for key, it in value.items() if key not in ("documentation", "since", "sinceTags", "proposed", "deprecated")}
    return value


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    parts = [f'"version": {json.dumps(model["metaData"]["version"])}']
    for kind in KEPT:
        lines = ",\n".join(json.dumps(reduced(kind, it), separators=(",", ":")) for it in model[kind])
        parts.append(f'"{kind}": [\n{lines}\n]')
    print("{\n" + ",\n".join(parts) + "\n}")


if __name__ == "__main__":
    main()
