"""What a page may say, and what is refused."""

from __future__ import annotations

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.programs.web.page_messages import MessageError, read

DRIVE = {"kind": "drive", "v_x": 1.0, "v_y": 0.0, "yaw_rate": 0.5, "steering_angle": -0.25}


def test_every_kind_is_read():
    for message in (
        {"kind": "seen"},
        DRIVE,
        {**DRIVE, "time": 2.5},
        {"kind": "pause", "number": 1, "paused": True},
        {"kind": "reset", "number": 2},
    ):
        assert {**(told := read(json.dumps(message))).fields, "kind": told.kind} == message
    for text, value in (("2.5", 2.5), ("true", True), ('"x"', "x"), ("3", 3), ("[1, 2.5]", (1.0, 2.5))):
        kind, fields = read(f'{{"kind": "set", "number": 3, "name": "a.b", "value": {text}}}')
        assert (kind, fields) == ("set", {"number": 3, "name": "a.b", "value": value})
        assert type(fields["value"]) is type(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 10000, "not JSON"),
        ("[]", "it must be an object with a 'kind'"),
        ('{"kind": "fly"}', 'kind is "fly"; it must be one of seen, drive, set, pause, reset'),
        ('{"kind": ["drive"]}', "it must be one of"),
        ('{"kind": "seen", "more": 1}', "'seen' has more beside it; it must have nothing"),
        ('{"kind": "drive", "v_x": 1}', "it must have steering_angle, v_x, v_y, yaw_rate"),
        ('{"kind": "pause", "number": 1, "paused": 1}', "paused is 1; it must be true or false"),
        ('{"kind": "reset", "number": -1}', "number is -1"),
        ('{"kind": "set", "number": 1, "name": 5, "value": 1}', "name is 5; it must be the name of a parameter"),
        ('{"kind": "set", "number": 1, "name": "a", "value": null}', "value is null; it must be a number"),
        ('{"kind": "set", "number": 1, "name": "a", "value": [1, "b"]}', 'value is "b"; it must be a number'),
        ('{"kind": "set", "number": 1, "name": "a", "value": 1e999}', "value is inf; it must be finite"),
        (f'{{"kind": "set", "number": 1, "name": "a", "value": {10**400}}}', "more digits than 64 bits hold"),
        ('{"kind": "set", "number": 1, "name": "a", "value": "\\ud800"}', "half of a surrogate pair"),
        ('{"kind": "set", "number": 1, "name": "a", "value": "x\\u0000y"}', "half of a surrogate pair or a null"),
    ],
)
def test_what_is_wrong_is_explained(text, reason):
    with pytest.raises(MessageError) as error:
        read(text)
    assert reason in str(error.value)


@pytest.mark.parametrize("field", ["v_x", "v_y", "yaw_rate", "steering_angle"])
@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e4", "true", '"1"', "null", "[1]"]
)
def test_commands_that_are_not_finite_numbers_are_refused(field, value):
    text = json.dumps({**DRIVE, field: "HERE"}).replace('"HERE"', value)
    with pytest.raises(MessageError):
        read(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FIELDS = st.sampled_from(["v_x", "v_y", "yaw_rate", "steering_angle", "number", "name", "value", "paused"])
KINDS = st.sampled_from(["seen", "drive", "set", "pause", "reset"])


@given(st.text() | JSON.map(json.dumps))
def test_no_other_error_is_raised(text):
    with suppress(MessageError):
        read(text)


@given(KINDS, st.dictionaries(FIELDS, JSON))
def test_accepted_messages_are_finite(kind, fields):
    try:
        kind, fields = read(json.dumps({**fields, "kind": kind}))
    except MessageError:
        return
    if kind == "drive":
        assert max(abs(fields[name]) for name in ("v_x", "v_y", "yaw_rate")) <= 1e3
        assert abs(fields["steering_angle"]) <= math.pi
        assert math.isfinite(fields.get("time", 0.0))
    if kind == "set" and isinstance(fields["value"], float):
        assert math.isfinite(fields["value"])
