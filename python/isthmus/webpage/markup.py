"""Small pieces of HTML. Text is escaped here, once."""

from collections.abc import Container, Iterable, Sequence
from html import escape

_FIGURE = ' class="figure"'


class Html(str):
    """Text that is HTML already."""


def html(text: object) -> Html:
    return text if isinstance(text, Html) else Html(escape(str(text)))


def table(
    caption: str,
    heads: Sequence[object],
    rows: Iterable[Sequence[object]],
    texts: Container[int] = (),
) -> Html:
    """The first cell of a row is its head. The others are figures, unless they are HTML or in a
    column of `texts`, whose numbers count from the first after the head."""
    first, *others = map(html, heads)
    lines = [
        f'<div class="wide" role="region" tabindex="0" aria-label="{html(caption)}"><table>',
        f"<caption>{html(caption)}</caption>",
        f'<thead><tr><th scope="col">{first}</th>',
        *(
            f'<th scope="col"{"" if i in texts else _FIGURE}>{head}</th>'
            for i, head in enumerate(others)
        ),
        "</tr></thead><tbody>",
    ]
    for name, *cells in rows:
        lines.append(f'<tr><th scope="row">{html(name)}</th>')
        lines += [
            f"<td>{html(cell)}</td>"
            if isinstance(cell, Html) or i in texts
            else f"<td{_FIGURE}>{_together(html(cell))}</td>"
            for i, cell in enumerate(cells)
        ]
        lines.append("</tr>")
    return Html("\n".join([*lines, "</tbody></table></div>"]))


def _together(text: str) -> str:
    """A figure and its unit stay on one line."""
    return text.replace(" ", "\u00a0").replace("\u00a0(", " (")


def paragraphs(lines: Iterable[str]) -> Html:
    return Html("\n".join(f"<p>{html(line)}</p>" for line in lines))


def bar(parts: Sequence[tuple[str, float]], whole: float) -> Html:
    """Shares of a whole, by class. The figures stand beside it, so readers of screens skip it."""
    shapes, left = [], 0.0
    for kind, part in parts:
        width = 100 * part / whole if whole else 0.0
        shapes.append(f'<rect class="{kind}" x="{left:.2f}" width="{width:.2f}" height="10"/>')
        left += width
    return Html(
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(shapes)}</svg>"
    )
