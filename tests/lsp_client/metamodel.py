"""Says what is wrong with a value, by the LSP meta-model's types.

The meta-model (`metamodel.json`) describes each method's parameters and result as a type. `MetaModel.problems` walks a value
along such a type and answers with sentences, none if it fits.
"""
import json
from pathlib import Path
from typing import Any

MODEL = Path(__file__).with_name("metamodel.json")
NUMBERS = {"integer": (-(2**31), 2**31 - 1), "uinteger": (0, 2**31 - 1)}
STRINGS = {"string", "URI", "DocumentUri", "RegExp"}
# Whatever JSON can say.
ANYTHING = {"LSPAny", "LSPObject", "LSPArray"}


class MetaModel:
    """`strict`: a property which the meta-model does not name is a problem too."""

    def __init__(self, strict: bool = False, path: Path = MODEL):
        model = json.loads(path.read_text(encoding="utf-8"))
        self.strict = strict
        self.requests = {it["method"]: it for it in model["requests"]}
        self.notifications = {it["method"]: it for it in model["notifications"]}
        self.enumerations = {it["name"]: it for it in model["enumerations"]}
        self.aliases = {it["name"]: it["type"] for it in model["typeAliases"]}
        self._structures = {it["name"]: it for it in model["structures"]}
        self._properties: dict[str, dict] = {}

    def problems(self, type_: dict, value: Any, at: str) -> list[str]:
        """What is wrong with `value`, which stands at the path `at`."""
        kind = type_["kind"]
        if kind == "base":
            return self._base(type_["name"], value, at)
        if kind == "reference":
            return self._reference(type_["name"], value, at)
        if kind == "or":
            return self._either(type_["items"], value, at)
        if kind == "and":
            merged: dict = {}
            for item in type_["items"]:
                merged.update(self.properties(item["name"]))
            return self._structure(merged, value, at)
        if kind == "literal":
            properties = {it["name"]: it for it in type_["value"]["properties"]}
            return self._structure(properties, value, at)
        if kind == "array":
            if not isinstance(value, list):
                return [f"{at} is {shown(value)}, not an array"]
            return [it for i, item in enumerate(value) for it in self.problems(type_["element"], item, f"{at}[{i}]")]
        if kind == "map":
            if not isinstance(value, dict):
                return [f"{at} is {shown(value)}, not an object"]
            return [it for key, item in value.items() for it in self.problems(type_["value"], item, f"{at}[{key!r}]")]
        if kind == "tuple":
            items = type_["items"]
            if not isinstance(value, list) or len(value) != len(items):
                return [f"{at} is {shown(value)}, not an array of {len(items)}"]
            return [it for i, item in enumerate(items) for it in self.problems(item, value[i], f"{at}[{i}]")]
        if kind == "stringLiteral":
            return [] if value == type_["value"] else [f"{at} is {shown(value)}, not {type_['value']!r}"]
        raise ValueError(f"the meta-model has a kind of type that is not known here: {kind}")

    def properties(self, name: str) -> dict[str, dict]:
        """All properties of a structure, those it inherits included; its own win."""
        if name not in self._properties:
            structure = self._structures[name]
            out: dict[str, dict] = {}
            for parent in structure.get("extends", []) + structure.get("mixins", []):
                out.update(self.properties(parent["name"]))
            out.update({it["name"]: it for it in structure["properties"]})
            self._properties[name] = out
        return self._properties[name]

    def _base(self, name: str, value: Any, at: str) -> list[str]:
        if name in STRINGS:
            fits = isinstance(value, str)
        elif name == "boolean":
            fits = isinstance(value, bool)
        elif name == "null":
            fits = value is None
        elif name == "decimal":
            fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        else:
            low, high = NUMBERS[name]
            fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return [] if fits else [f"{at} is {shown(value)}, not {article(name)}"]

    def _reference(self, name: str, value: Any, at: str) -> list[str]:
        if name in ANYTHING:
            return []
        if name in self.aliases:
            return self.problems(self.aliases[name], value, at)
        if name in self.enumerations:
            enumeration = self.enumerations[name]
            wrong = self._base(enumeration["type"]["name"], value, at)
            if not wrong and not enumeration.get("supportsCustomValues") and value not in enumeration["values"]:
                wrong = [f"{at} is {shown(value)}, not a value of {name}"]
            return wrong
        return self._structure(self.properties(name), value, at)

    def _structure(self, properties: dict[str, dict], value: Any, at: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{at} is {shown(value)}, not an object"]
        out = []
        for name, property_ in properties.items():
            if name in value:
                out += self.problems(property_["type"], value[name], f"{at}.{name}")
            elif not property_.get("optional"):
                out.append(f"{at}.{name} is missing")
        if self.strict:
            out += [f"{at}.{name} is not in the specification" for name in value if name not in properties]
        return out

    def _either(self, items: list[dict], value: Any, at: str) -> list[str]:
        """No problem when one alternative fits; else the problems of the alternative that came nearest."""
        nearest: list[str] = []
        for item in items:
            wrong = self.problems(item, value, at)
            if not wrong:
                return []
            # One that fails deeper inside is what was meant; among those, the one with the fewest problems.
            if not nearest or (min(map(depth, wrong)), -len(wrong)) > (min(map(depth, nearest)), -len(nearest)):
                nearest = wrong
        return nearest


def depth(problem: str) -> int:
    path = problem.split(" ", 1)[0]
    return path.count(".") + path.count("[")


def shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


def article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
