"""Parameters of how a vehicle is localized and what it measures of itself.

Names that AMCL or Autoware's simulator has mean what they mean there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from vds_gz.parameters.declaration import ParameterGroup, choice, flag, group, integer, real


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


@dataclass(frozen=True, slots=True)
class LocalizationParameters(ParameterGroup):
    """Noise of a simulated localization. That of the continuous style, and of the odometry, are variances."""

    odom_walk_velocity_translation: float = real(
        0.0025, "m^2/m", "drift of the odometry's position per metre driven", minimum=0.0, live=True
    )
    odom_walk_velocity_rotation: float = real(
        0.0076, "rad^2/m", "drift of the odometry's heading per metre driven", minimum=0.0, live=True
    )
    map_sample_noise_translation: float = real(
        0.000025, "m^2 s", "noise density of the position measured in the map", minimum=0.0, live=True
    )
    map_sample_noise_rotation: float = real(
        3.1e-6, "rad^2 s", "noise density of the heading measured in the map", minimum=0.0, live=True
    )
    seed: int = integer(0, "seed of the noise; equal seeds give equal runs", minimum=0)
    style: str = choice(
        "continuous",
        ("continuous", "amcl", "external"),
        "continuous: a measurement at each instant; amcl: held between updates, as Nav2's AMCL does it; external: "
        "map -> odom comes from another node, even where simulate_localization is false",
    )
    amcl: AmclParameters = group(AmclParameters)

    @property
    def external(self) -> bool:
        """Another node localizes the vehicle."""
        return self.style == "external"


@dataclass(frozen=True, slots=True)
class MeasurementNoiseParameters(ParameterGroup):
    """Noise of what is measured, as Autoware's simulator has it. All of them are standard deviations."""

    add_measurement_noise: bool = flag(False, "pose, speed and tire angle are noisy")
    pos_noise_stddev: float = real(0.01, "m", "of x and of y", minimum=0.0, live=True)
    vel_noise_stddev: float = real(0.01, "m/s", "of the speed", minimum=0.0, live=True)
    rpy_noise_stddev: float = real(1e-4, "rad", "of the heading", minimum=0.0, live=True)
    steer_noise_stddev: float = real(1e-4, "rad", "of the tire angle", minimum=0.0, live=True)
    seed: int = integer(0, "seed of the noise; equal seeds give equal runs", minimum=0)
