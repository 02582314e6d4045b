"""Parameters of a localization that behaves as AMCL does; names that AMCL has too mean what they mean there."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.parameters.declaration import ParameterGroup, choice, flag, real


@dataclass(frozen=True, slots=True)
class AmclParameters(ParameterGroup):
    """How AMCL's stand-in updates, its errors, and its services."""

    update_min_d: float = real(0.25, "m", "translation along x or y of the odometry that brings an update", minimum=0.0)
    update_min_a: float = real(0.2, "rad", "rotation that brings an update", minimum=0.0)
    transform_tolerance: float = real(
        1.0, "s", "how far map -> odom is stamped into the future", minimum=0.0, maximum=1e6
    )
    set_initial_pose: bool = flag(True, "AMCL begins at the true pose; else it waits for initialpose")
    scan_rate: float = real(
        10.0, "Hz", "scans per second, at most pub_rate of which count", minimum=1e-3, maximum=1000.0
    )
    position_std: float = real(
        0.03, "m", "standard deviation of the position along each axis", minimum=0.0, maximum=1e6
    )
    heading_std: float = real(0.013, "rad", "standard deviation of the heading", minimum=0.0, maximum=math.pi)
    correlation_distance: float = real(
        1.0, "m", "distance over which an error, and the spread of an initial pose, decays by 1/e", positive=True
    )
    jump_rate: float = real(0.0, "Hz", "jumps per second, at updates", minimum=0.0)
    jump_size: float = real(0.5, "m", "length of a jump, in a random direction", minimum=0.0, maximum=1e6)
    latency: float = real(0.0, "s", "delay from a scan to its result", minimum=0.0, maximum=10.0)
    initialpose: str = choice(
        "both",
        ("both", "amcl", "vehicle"),
        "effect of initialpose: amcl: it is AMCL's belief, also of an external one; vehicle: the vehicle is moved "
        "there, kidnapped; both",
        live=True,
    )
    lifecycle: str = choice(
        "none",
        ("none", "active", "managed"),
        "services amcl/get_state and amcl/change_state; active: from the start; managed: once a lifecycle manager has "
        "configured and activated it",
    )
