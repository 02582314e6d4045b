"""Parameters of the controllers that follow a path."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.parameters.declaration import ParameterGroup, real


@dataclass(frozen=True, slots=True)
class ControllerParameters(ParameterGroup):
    """What every controller has: how fast it wants to drive."""

    speed: float = real(1.0, "m/s", "speed reference, where the path gives no lower one", positive=True)
    lateral_acceleration: float = real(
        2.0,
        "m/s^2",
        "in curves, and with half as much deceleration before them, the speed reference keeps to it; 0: unlimited",
        minimum=0.0,
    )


@dataclass(frozen=True, slots=True)
class PurePursuitParameters(ControllerParameters):
    """An arc through a point of the path ahead; the farther of two distances counts."""

    look_ahead: float = real(1.0, "m", "distance along the path to the point that is aimed at, at least", positive=True)
    look_ahead_time: float = real(1.5, "s", "the same as a time at the present speed", minimum=0.0)


@dataclass(frozen=True, slots=True)
class StanleyParameters(ControllerParameters):
    """Steered wheels parallel to the path, and towards it by their middle's distance from it."""

    gain: float = real(1.0, "1/s", "lateral speed towards the path for a distance from it", minimum=0.0)
    softening: float = real(0.5, "m/s", "added to the speed, so that low ones steer less", positive=True)


@dataclass(frozen=True, slots=True)
class LqrParameters(ControllerParameters):
    """Least squares of errors and curvature, with the path's curvature ahead known.

    The first three are weights, by Bryson's rule: deviations that count as equally bad.
    """

    lateral_error: float = real(0.5, "m", "lateral error of weight 1", positive=True)
    heading_error: float = real(0.5, "rad", "heading error of weight 1", positive=True)
    curvature: float = real(0.2, "1/m", "deviation from the path's curvature of weight 1", positive=True)
    preview: float = real(1.0, "s", "how far ahead the path's curvature is considered", minimum=0.0, maximum=60.0)
    steering_time_constant: float = real(0.05, "s", "what the steering's lag is taken to be; 0: no lag", minimum=0.0)
