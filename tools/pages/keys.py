"""The page with all keys of the grid file, by table."""

from itertools import groupby

import grid_keys
from pages import links

HEAD = """# Keys of the grid file

Types and limits come from the models that read the file. [The grid file](grid.md) describes the
tables. `man 5 isthmus-grid` shows that page.
"""


def page() -> str:
    lines = [HEAD]
    for table, keys in groupby(grid_keys.all_keys(), key=lambda key: key.table):
        anchor = links.slug(table)
        title = f"[`{table}`](grid.md#{anchor})" if table else "Before all tables"
        lines += [f"## {title}", "", "| key | type | default | meaning |", "|---|---|---|---|"]
        for key in keys:
            cells = [f"`{key.name}`", key.type, key.default, key.meaning]
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
        lines.append("")
    return links.for_site("docs/grid.md", "\n".join(lines).replace("](#", "](grid.md#"))
