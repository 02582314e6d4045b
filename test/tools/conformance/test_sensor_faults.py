"""The check of types of sensors: all shipped ones and the example pass, and the faults of others are named."""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from vds_gz import measuring
from vds_gz.cli import main
from vds_gz.core.sensing.sensors.shipped import SENSORS
from vds_gz.tools.conformance.sensor_faults import sensor_faults

sys.path.append(str(Path(__file__).parents[3] / "examples"))
from own_sensor import RANGE, SONAR, SonarOutput

COUNT = itertools.count()

#: These take seconds.
LONG = ("camera", "rgbd_camera", "ouster_os1", "helios_32_fov_26", "helios_32_fov_31", "helios_32_fov_70")


@pytest.mark.parametrize(
    "record",
    [pytest.param(record, id=record.name, marks=[pytest.mark.slow] * (record.name in LONG)) for record in SENSORS],
)
def test_shipped_types_pass(record):
    assert sensor_faults(record) == []


def test_the_example_passes():
    assert sensor_faults(SONAR) == []


def test_the_program_says_so(capsys):
    assert main(["check", "--sensor", "imu"]) == 0
    assert capsys.readouterr().out == "imu: OK\n"
    assert main(["check", "--sensor", "imuu"]) == 2
    assert "there is no type of sensor 'imuu'; there are" in capsys.readouterr().err


@dataclass(frozen=True, slots=True)
class Bare(measuring.ParameterGroup):
    type: str = measuring.kind("sonar")
    rate: float = measuring.rate(10.0)
    cone: float = 0.5


class Output(SonarOutput):
    """A sonar that works."""


class Random(Output):
    def values(self, state, scene):
        return (float(next(COUNT)),)


class Raises(Output):
    def values(self, state, scene):
        return (1.0 / 0.0,)


class NeverMeasures(Output):
    def measure(self, states, scene):
        pass


class AlwaysSends(Output):
    def measure(self, states, scene):
        self._topic.publish(states[-1].time, (1.0,))


class Deaf(Output):
    subscribed = False


class Late(Output):
    def measure(self, states, scene):
        self._topic.publish(states[-1].time + 1, (1.0,))


class Negative(Output):
    rays = -1


class Fast(Output):
    def __init__(self, setup):
        super().__init__(setup)
        self.rate = 99.0


class ElsewhereFramed(Output):
    def __init__(self, setup):
        super().__init__(replace(setup, name="other"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parameters": Bare, "make": Output}, "parameter 'cone' of Bare has no unit, bounds and meaning"),
        ({"streams": ()}, "streams is empty"),
        ({"streams": (RANGE, RANGE)}, "stream 'range' occurs 2 times"),
        ({"streams": (measuring.Stream("a range", "sensor_msgs/msg/Range"),)}, "must have names such as"),
        ({"streams": (measuring.Stream("range", "sensor_msgs/msg/Rnge"),)}, "'sensor_msgs/msg/Rnge' is not known"),
        ({"make": Random}, "two equal runs give different measurements"),
        ({"make": Raises}, r"raises ZeroDivisionError: float division by zero \(.*test_sensor_faults.py, line \d+\)"),
        ({"make": NeverMeasures}, "nothing is published on 'range' in a world"),
        ({"make": AlwaysSends}, "it publishes on topics without subscribers"),
        ({"make": Deaf}, "output.subscribed is false although"),
        ({"make": Late}, "it must be the time of a measurement"),
        ({"make": Negative}, "output.rays is -1; it must be"),
        ({"make": Fast}, "output.rate is 99; it must be the parameter 'rate', 10 Hz"),
        ({"make": ElsewhereFramed}, "it announces 'other/range'; it must be its streams, 'checked/range'"),
    ],
)
def test_a_fault_is_named_with_what_is_right(change, said):
    faults = sensor_faults(replace(SONAR, **change))
    assert any(__import__("re").search(said, fault) for fault in faults), faults
