"""The page of the lab's test networks, of their own files."""

import grid_keys
from pydantic import BaseModel

from isthmus_lab.lab import drawing, testbed
from isthmus_lab.lab.network import Network, work_out

HEAD = """# Testbeds

These networks come with Isthmus. `isthmus lab run NAME -- COMMAND` builds one. [The lab](lab.md)
says what is in it and how to write your own.
"""


def page() -> str:
    lines = [HEAD, "| name | network |", "|---|---|"]
    known = {name: testbed.load(name)[1] for name in testbed.shipped()}
    lines += [f"| [`{name}`](#{name}) | {made.description} |" for name, made in known.items()]
    for name, made in known.items():
        lines += ["", f"## {name}", "", "```text", *drawing.draw(_network(name, made)), "```"]
    lines += ["", "## Keys of a testbed file", ""]
    for title, model in _tables():
        lines += [f"### {title}", "", " ".join((model.__doc__ or "").split()), ""]
        lines += ["| key | type | default |", "|---|---|---|"]
        for key, field in model.model_fields.items():
            if grid_keys.table_of(field.annotation, BaseModel)[0]:
                continue
            kind = grid_keys.type_of(field.annotation, field.metadata)
            lines.append(f"| `{key}` | {kind} | {_default(field)} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def _network(name: str, made: testbed.Testbed) -> Network:
    return work_out(name, made)


def _tables() -> list[tuple[str, type]]:
    return [
        ("The whole file", testbed.Testbed),
        ("`[site.NAME]`", testbed.Site),
        ("`[[wan]]`", testbed.Wan),
        ("`[[zipper]]`", testbed.Zipper),
        ("`[tcp]`", testbed.Tcp),
    ]


def _default(field: object) -> str:
    if field.is_required():
        return "(required)"
    value = field.default
    if value is None or value == "":
        return ""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"
