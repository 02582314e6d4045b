"""Parameters of the controllers that follow a path."""

from __future__ import annotations

from dataclasses import dataclass

from vds_gz.core.parameters.declaration import ParameterGroup, real


@dataclass(frozen=True, slots=True)
class ControllerParameters(ParameterGroup):
    """The parameters of every controller: its reference speed."""

    speed: float = real(1.0, "m/s", "reference speed, unless the path's is lower", positive=True)
    lateral_acceleration: float = real(
        2.0,
        "m/s^2",
        "limit in curves; the reference speed falls to keep it, with half as much deceleration before; 0: unlimited",
        minimum=0.0,
    )


@dataclass(frozen=True, slots=True)
class PurePursuitParameters(ControllerParameters):
    """Steers along an arc to a target point of the path, at the larger of two distances."""

    look_ahead: float = real(1.0, "m", "minimum distance along the path to the target point", positive=True)
    look_ahead_time: float = real(1.5, "s", "distance to the target point, as a time at the present speed", minimum=0.0)


@dataclass(frozen=True, slots=True)
class StanleyParameters(ControllerParameters):
    """Steers the wheels parallel to the path, and towards it by the distance of their middle from it."""

    gain: float = real(1.0, "1/s", "lateral speed towards the path per distance from it", minimum=0.0)
    softening: float = real(0.5, "m/s", "added to the speed, so that steering is gentler at low speed", positive=True)


@dataclass(frozen=True, slots=True)
class LqrParameters(ControllerParameters):
    """A linear-quadratic regulator of errors and curvature, with preview of the path's curvature.

    ``lateral_error``, ``heading_error`` and ``curvature`` are weights by Bryson's rule: deviations that count equally.
    """

    lateral_error: float = real(0.5, "m", "lateral error with weight 1", positive=True)
    heading_error: float = real(0.5, "rad", "heading error with weight 1", positive=True)
    curvature: float = real(0.2, "1/m", "deviation from the path's curvature with weight 1", positive=True)
    preview: float = real(1.0, "s", "time for which the path's curvature ahead is known", minimum=0.0, maximum=60.0)
    steering_time_constant: float = real(0.05, "s", "assumed lag of the steering; 0: no lag", minimum=0.0)
