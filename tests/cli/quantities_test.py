"""Rates, times and sizes: read once, told as written."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from isthmus.base.quantities import Duration, Rate, Size


class Model(BaseModel):
    model_config = ConfigDict(strict=True)

    rate: Rate = Rate.parse("1 Gbit/s")
    time: Duration | None = None
    size: Size | None = None


def test_each_has_its_value_and_its_words():
    model = Model.model_validate({"rate": "1.2 GB/s", "time": "10 min", "size": "2 MiB"})
    assert (model.rate.bits, model.rate.bytes) == (9_600_000_000, 1.2e9)
    assert model.time is not None
    assert model.size is not None
    assert (model.time.seconds, model.size.bytes) == (600, 2 << 20)
    assert f"{model.rate}, {model.time}, {model.size}" == "1.2 GB/s, 10 min, 2 MiB"


def test_the_same_in_other_words_is_equal():
    assert Rate.parse("1 Gbit/s") == Rate.parse("1000 Mbit/s")
    assert Duration.parse("600 s") == Duration.parse("10 min")
    assert str(Rate.of(2_500_000_000)) == "2.5 Gbit/s"


def test_models_write_what_they_read():
    data = {"rate": "1.2 GB/s", "time": "10 min", "size": None}
    model = Model.model_validate(data)
    assert model.model_dump(mode="json") == data
    assert Model.model_validate_json(model.model_dump_json()) == model
    assert Model().model_dump(mode="json", exclude_defaults=True) == {}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rate": "fast"}, "must be a rate such as"),
        ({"time": "12"}, "must be a time such as"),
        ({"size": "3 iB"}, "must be a size such as"),
        ({"rate": 10}, "should be a valid string"),
    ],
)
def test_what_is_none_is_refused(data, said):
    with pytest.raises(ValidationError, match=said):
        Model.model_validate(data)
