"""An obstacle stops every actuator of a state, wherever the state holds it."""

from dataclasses import dataclass, field

from vds_gz.core.vehicle.vehicle_model import stop_drives


@dataclass(slots=True)
class Motor:
    velocity: float = 1.0

    def stop(self) -> None:
        self.velocity = 0.0


@dataclass(slots=True)
class Axle:
    left: Motor = field(default_factory=Motor)
    angle: float = 0.3


@dataclass(slots=True)
class State:
    drive: Motor = field(default_factory=Motor)
    axle: Axle = field(default_factory=Axle)
    axles: list[Axle] = field(default_factory=lambda: [Axle(), Axle()])
    history: list[float] = field(default_factory=lambda: [1.0, 2.0])
    v_x: float = 1.0
    v_y: float = 1.0
    yaw_rate: float = 1.0


def test_every_actuator_stops_and_nothing_else_changes():
    s = State()
    stop_drives(None, s, 0.0)
    motors = [s.drive, s.axle.left, *(axle.left for axle in s.axles)]
    assert [motor.velocity for motor in motors] == [0.0] * 4
    assert (s.v_x, s.v_y, s.yaw_rate) == (0.0, 0.0, 0.0)
    assert (s.axle.angle, s.axles[1].angle, s.history) == (0.3, 0.3, [1.0, 2.0])
