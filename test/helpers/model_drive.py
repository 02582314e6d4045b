"""Drives a vehicle in Gazebo, within one process and as fast as it goes: ``model_drive.py < job.json``.

It runs in its own process because Gazebo does not come back from everything. The job:

    world: path of an SDF world that holds the vehicle
    model: name of the vehicle
    phases: list of {steps, velocity, position}; each sends one Actuators message, if any, then runs so many steps
    every: a sample each so many steps

It prints a list of [time, x, y, z, roll, pitch, yaw] of base_link, per sample.
"""

import json
import sys

from vds_gz.core.description import gz_topics as topics
from vds_gz.core.plant.gazebo.links import bindings


def main() -> None:
    job = json.load(sys.stdin)
    sim, actuators = bindings.sim(), bindings.message("actuators", "Actuators")
    samples = []

    def look(info, ecm) -> None:
        if info.iterations % job["every"]:
            return
        world = sim.World(sim.world_entity(ecm))
        model = sim.Model(world.model_by_name(ecm, job["model"]))
        pose = sim.Link(model.link_by_name(ecm, "base_link")).world_pose(ecm)
        if pose is not None:  # there is none in the first step
            vectors = (pose.pos(), pose.rot().euler())
            samples.append([info.sim_time.total_seconds(), *(part for v in vectors for part in (v.x(), v.y(), v.z()))])

    fixture = sim.TestFixture(job["world"])
    fixture.on_post_update(look)
    fixture.finalize()
    fixture.server().run(True, 1, False)
    node = bindings.transport().Node()
    publisher = node.advertise(topics.actuators(job["model"]), actuators)
    for phase in job["phases"]:
        if "velocity" in phase:
            publisher.publish(actuators(velocity=phase["velocity"], position=phase["position"]))
        fixture.server().run(True, phase["steps"], False)
    print(json.dumps(samples))


if __name__ == "__main__":
    main()
