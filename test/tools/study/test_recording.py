"""Joint states with lists of different lengths are left out."""

import numpy as np
import pytest
from helpers.bag_files import write_bag

from vds_gz.core.ros.messages.message_types import open_types
from vds_gz.programs.interface import topics
from vds_gz.tools.study.reading.recorded_run import read

TOPICS = {
    f"/{topic.name}": topic.type for topic in (topics.GROUND_TRUTH, topics.ACTUATOR_REFERENCES, topics.ACTUATOR_STATES)
}


@pytest.mark.parametrize(("position", "velocity"), [([0.1], [1.0, 2.0]), ([], []), ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])])
def test_joint_states_of_other_lengths_are_left_out(tmp_path, position, velocity):
    types, messages = open_types(), []
    for step in range(6):
        for name, kind in TOPICS.items():
            message = types.new(kind)
            message.header.stamp.sec = step
            if name.startswith("/actuator"):
                message.name = ["drive", "steering"]
                ragged = step == 3 and name.endswith("states")
                message.position = np.array(position if ragged else [0.0, 0.1])
                message.velocity = np.array(velocity if ragged else [1.0, 0.0])
            messages.append((name, step * 10**9, message))
    write_bag(tmp_path / "bag", "mcap", TOPICS, messages)
    assert [list(actuator.time) for actuator in read(tmp_path / "bag").actuators] == 2 * [[0.0, 1.0, 2.0, 4.0, 5.0]]
