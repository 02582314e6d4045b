"""Listens to a sensor in Gazebo, within one process and as fast as it goes: ``model_listen.py < job.json``.

The job: world (path of an SDF world), steps, topic, type (file and name of the message), fields (dotted). It prints a
list of the fields' values, per message.
"""

import functools
import json
import sys

from vds_gz.core.plant.gazebo.links import bindings


def main() -> None:
    job = json.load(sys.stdin)
    sim, records = bindings.sim(), []
    node = bindings.transport().Node()
    node.subscribe(
        bindings.message(*job["type"]),
        job["topic"],
        lambda message: records.append([functools.reduce(getattr, name.split("."), message) for name in job["fields"]]),
    )
    fixture = sim.TestFixture(job["world"])
    fixture.finalize()
    fixture.server().run(True, job["steps"], False)
    node.unsubscribe(job["topic"])
    print(json.dumps(records))


if __name__ == "__main__":
    main()
