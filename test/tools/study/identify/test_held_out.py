"""The error of a parameter file in units of noise."""

import dataclasses

import numpy as np
import pytest

from vds_gz.core.configuration import load_parameters
from vds_gz.tools.study.identify.held_out import file_error
from vds_gz.tools.study.identify.problem.unknowns import set_up
from vds_gz.tools.study.identify.results import Channel
from vds_gz.tools.study.recording import Recording, Series

TIME = np.arange(0.0, 10.0, 0.02)


def channel(name, unit, noise):
    """A channel with noise; its samples do not matter."""
    return Channel(name, name, unit, name, 0, noise, noise, 0, 0.0, TIME, TIME, TIME, None, np.ones(len(TIME)))


def test_an_error_is_the_sum_of_those_of_the_channels_in_units_of_given_noise():
    """A robot that stands, beside sensors with errors of 0.1 m/s and 0.3 rad/s in nine tenths of the samples."""
    robot, still = load_parameters("indoor_robot"), Series(TIME, np.zeros(len(TIME)))
    wrong = TIME >= 1.0 - 1e-9
    measured = {"v_x": Series(TIME, 0.1 * wrong), "yaw_rate": Series(TIME, -0.3 * wrong)}
    recording = Recording({"v_x": still, "yaw_rate": still}, measured)
    setup = set_up([recording], vehicle=robot, wheel_base=None, fit=(), priors={})
    channels = [channel("v_x", "m/s", 0.05), channel("yaw_rate", "rad/s", 0.1)]
    error = file_error(setup, robot.vehicle, channels)
    assert error == pytest.approx(0.9 * (2.0**2 + 3.0**2), rel=0.005)  # the first sample is not used
    noisier = [dataclasses.replace(known, noise=2.0 * known.noise) for known in channels]
    assert file_error(setup, robot.vehicle, noisier) == pytest.approx(error / 4.0)
