"""JSON whose strings hold any bytes, as src/core/base/any_json_test.cpp has it."""

import json
import os
import random

import pytest

from isthmus.base import anyjson


def test_text_that_is_utf8_is_ordinary_json():
    value = {"argv": ["a b", "", "\u00e9", "\U0001f480", '\n"\\'], "n": 3}
    assert json.loads(anyjson.dumps(value)) == value
    assert anyjson.loads(json.dumps(value).encode()) == value


def test_a_bytes_number_follows_u0000():
    assert anyjson.dumps(["t\udce9t"]) == rb'["t\u0000\u00e9t"]'
    assert anyjson.loads(rb'["t\u0000\u00e9t"]') == ["t\udce9t"]
    assert anyjson.loads('["t\\u0000\u00e9t"]'.encode()) == ["t\udce9t"]


def test_any_bytes_come_back():
    source = random.Random(7)
    for _ in range(2000):
        text = os.fsdecode(bytes(source.choices(range(1, 256), k=source.randrange(8))))
        value = {"argv": [text, [text]], "env": {text: text}}
        line = anyjson.dumps(value)
        assert b"\n" not in line
        json.loads(line.decode())  # text that every reader takes
        assert anyjson.loads(line) == value


@pytest.mark.parametrize("text", ["a\0b", "\0", "\0\u0100"])
def test_any_other_u0000_stays(text):
    assert anyjson.loads(anyjson.dumps([text])) == [text]


def test_what_is_no_json_at_all():
    with pytest.raises(ValueError, match="Expecting"):
        anyjson.loads(b'{"a": \\u0000')


def test_what_others_read_is_utf8():
    assert anyjson.readable("t\udce9t \u00e9") == "t\ufffdt \u00e9"
