"""All recipes, in the order of the papers' years."""

from collections.abc import Sequence
from fnmatch import fnmatch

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus_lab.bench.papers import applications, hablot, madeleine, matsuda, treurniet
from isthmus_lab.bench.papers.recipe import Recipe

RECIPES: tuple[Recipe, ...] = (
    *madeleine.RECIPES,
    *matsuda.RECIPES,
    *hablot.RECIPES,
    *applications.RECIPES,
    *treurniet.RECIPES,
)


def names() -> list[str]:
    return [recipe.name for recipe in RECIPES]


def chosen(patterns: Sequence[str]) -> list[Recipe]:
    """The recipes of these names, such as hablot-fig4 or 'matsuda-*'; each once, in the shelf's
    order."""
    known = names()
    for pattern in patterns:
        if not any(fnmatch(name, pattern) for name in known):
            near = did_you_mean(pattern, known)
            raise UsageError(f"no figure is called '{pattern}'{near}; figures are {listing(known)}")
    return [one for one in RECIPES if any(fnmatch(one.name, pattern) for pattern in patterns)]
