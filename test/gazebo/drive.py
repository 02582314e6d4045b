"""Drives a vehicle in Gazebo without a server process of its own, and prints where it was: ``drive.py < job.json``.

It runs in a process of its own because Gazebo does not come back from everything. The job:

    world: path of an SDF world that holds the vehicle
    model: name of the vehicle
    phases: list of {steps, velocity, position}; each sends one Actuators message, then runs so many steps
    every: a sample each so many steps

It prints a list of [time, x, y, z, roll, pitch, yaw] of the model, per sample.
"""

import importlib
import json
import sys


def newest(*names):
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"none of {', '.join(names)}", name=names[0])


newest("gz.math", "gz.math8", "gz.math7")  # the types that gz.sim gives back
sim = newest("gz.sim", "gz.sim9", "gz.sim8")
transport = newest("gz.transport", "gz.transport14", "gz.transport13")
messages = newest("gz.msgs.actuators_pb2", "gz.msgs11.actuators_pb2", "gz.msgs10.actuators_pb2")


def main():
    job = json.load(sys.stdin)
    samples = []

    def look(info, ecm):
        if info.iterations % job["every"]:
            return
        world = sim.World(sim.world_entity(ecm))
        model = sim.Model(world.model_by_name(ecm, job["model"]))
        pose = sim.Link(model.link_by_name(ecm, "base_link")).world_pose(ecm)
        if pose is None:
            return
        at, turn = pose.pos(), pose.rot().euler()
        samples.append([info.sim_time.total_seconds(), *(v for p in (at, turn) for v in (p.x(), p.y(), p.z()))])

    fixture = sim.TestFixture(job["world"])
    fixture.on_post_update(look)
    fixture.finalize()
    fixture.server().run(True, 1, False)
    node = transport.Node()
    publisher = node.advertise(f"/model/{job['model']}/actuators", messages.Actuators)
    for phase in job["phases"]:
        if "velocity" in phase:
            message = messages.Actuators()
            message.velocity.extend(phase["velocity"])
            message.position.extend(phase["position"])
            publisher.publish(message)
        fixture.server().run(True, phase["steps"], False)
    print(json.dumps(samples))


if __name__ == "__main__":
    main()
