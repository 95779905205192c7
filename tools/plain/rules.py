"""Rules for plain sentences. Each has a pattern and a remedy."""

import re
from dataclasses import dataclass

MOST_WORDS = 25
FEWEST_WORDS = 5  # shorter ones are headings and labels


@dataclass(frozen=True)
class Rule:
    name: str
    pattern: re.Pattern[str]
    remedy: str


def _rule(name: str, pattern: str, remedy: str) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), remedy)


_LATE = (
    r"^(?-i:What|Whatever|Who|Whom|Whose|Whoever|Of|None|Nothing|Nobody|Neither|Likewise|"
    r"Those (?:of|that|who|which)|Such (?:is|are)|In place of|"
    r"[SA](?:o|s) (?:many|much|few|long|far))\b(?!.*\?$)"
)
RULES = (
    _rule("opening", _LATE, "begin with the subject"),
    _rule(
        "negation",
        r"\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|need\b|reason\b|problem\b)[a-z]+\b",
        "write `is not a ...`, or `there is no ...`",
    ),
    _rule(
        "telling",
        r"\b(?:is|are|was|were|be) told\b(?! (?:from|apart)\b)",
        "`shows`, `reports`, `says`",
    ),
    _rule("counting", r"\bso (?:many|few|much) (?!that\b)", "name the number"),
    _rule("who", r"\bwhoever\b", "name the party"),
    _rule("mending", r"\bmend(?:s|ed|ing)?\b", "`fix`"),
    _rule("comparison", r"\b\d[\d.,]*(?: \w+)?,? and not \d", "`... instead of ...`"),
    _rule("each other", r"\bof each two\b|\beach to each\b", "`for each pair`"),
    _rule("there", r"\bwhere there (?:is|are) (?:one|none|any|some)\b", "`if it exists`"),
    _rule("want", r"\bfor want of\b|\bwants (?:a|an|the)\b", "`needs`"),
    _rule("anew", r"\b(?:anew|likewise|therein|thereof)\b", "a plain word"),
)


def broken(sentence: str) -> list[tuple[str, str]]:
    """The names of the rules that the sentence breaks, with remedies."""
    found = [(rule.name, rule.remedy) for rule in RULES if rule.pattern.search(sentence)]
    words = sum(bool(re.search("[A-Za-z]{2}", word)) for word in sentence.split())  # no formulas
    if words > MOST_WORDS:
        found.append(("length", f"{words} words; at most {MOST_WORDS}"))
    return found
