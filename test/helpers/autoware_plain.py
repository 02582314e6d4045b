"""Autoware's models once more, written down plainly from their description, to compare the quick ones with.

Nothing here is shared with the package: queues are lists that grow, tables are interpolated row by row, and every model
is a list of numbers with a derivative.
"""

import math
from collections import deque

FORWARD = {*range(2, 20), 23, 24}
REVERSE = {20, 21}


def sat(u, limit):
    return max(-limit, min(limit, u))


def interpolated(keys, values, q):
    i = next(i for i in range(len(keys) - 1) if keys[i + 1] >= q)
    return values[i] + (values[i + 1] - values[i]) * ((q - keys[i]) / (keys[i + 1] - keys[i]))


def look(table, act, state):
    state = min(max(state, table.states[0]), table.states[-1])
    act = min(max(act, table.actuations[0]), table.actuations[-1])
    column = [interpolated(table.states, row, state) for row in table.values]
    return interpolated(table.actuations, column, act)


def rk4(f, s, dt, mechanical=False):
    k1 = f(s)
    k2 = f([x + (k * 0.5) * dt for x, k in zip(s, k1, strict=True)])
    k3 = f([x + (k * 0.5) * dt for x, k in zip(s, k2, strict=True)])
    k4 = f([x + k * dt for x, k in zip(s, k3, strict=True)])
    total = [((a + 2 * b) + 2 * c) + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
    if mechanical:
        return [x + (dt / 6) * k for x, k in zip(s, total, strict=True)]
    return [x + ((1 / 6) * k) * dt for x, k in zip(s, total, strict=True)]


class Queue:
    def __init__(self, delay, dt):
        n = delay / dt
        self.waiting = deque([0.0] * int(math.floor(n) + (n - math.floor(n) >= 0.5)))

    def __call__(self, value):
        self.waiting.append(value)
        return self.waiting.popleft()


class Plain:
    """One model; ``s`` is x, y, yaw, v, steer, acceleration, pedal acceleration."""

    def __init__(self, name, p, dt):
        self.name, self.p, self.dt = name, p, dt
        self.s = [0.0] * 7
        self.acceleration = 0.0
        self.gear = 2
        delay = next((d for d in ("vel", "acc", "accel") if hasattr(p, f"{d}_time_delay")), None)
        self.first = Queue(getattr(p, f"{delay}_time_delay") if delay else 0.0, dt)
        self.brake = Queue(getattr(p, "brake_time_delay", 0.0), dt)
        self.steer = Queue(getattr(p, "steer_time_delay", 0.0), dt)
        self.previous_v = self.previous_target = 0.0
        self.restart()

    def restart(self):
        self.om, self.dz, self.integral, self.e0, self.q = 0.0, False, 0.0, 0.0, []

    def put(self, x, y, yaw, v, steer, acceleration):
        self.s = [x, y, yaw, v, steer, acceleration, 0.0]
        self.restart()

    def update(self, first, brake, steer, gear, q):
        self.gear, self.slope = gear, q
        self.u, self.b, self.w = self.first(first), self.brake(brake), self.steer(steer)
        before = list(self.s)
        self.stored = self.s[4]
        getattr(self, "_" + next(k for k in ("ideal", "delay", "actuation") if self.name.startswith(k)))()
        ruled = "geared" in self.name and "wo_fall" not in self.name
        if ruled or self.name.startswith("actuation"):
            v = self.s[3]
            if (v < 0) if gear in FORWARD else (v > 0) if gear in REVERSE else True:
                self.s[:4] = [*before[:3], 0.0]
                self.s[5] = (0.0 - before[3]) / max(self.dt, 1e-5)
        self.acceleration = self.s[5]
        if self.name == "ideal_steer_vel":
            self.acceleration = (self.u - self.previous_v) / self.dt
            self.previous_v = self.u
        elif self.name == "ideal_steer_acc":
            self.acceleration = self.u
        elif self.name == "ideal_steer_acc_geared":
            self.acceleration = (self.s[3] - before[3]) / max(self.dt, 1e-5)
        elif self.name == "delay_steer_vel":
            self.acceleration = (self.s[3] - before[3]) / self.dt

    def motion(self, s, v, d):
        return [v * math.cos(s[2]), v * math.sin(s[2]), (v * math.tan(d)) / self.p.wheel_base]

    def _ideal(self):
        vel = self.name == "ideal_steer_vel"
        if vel:
            self.s[3] = self.u
        self.s[4] = self.w
        self.s = rk4(lambda s: [*self.motion(s, s[3], s[4]), 0.0 if vel else self.u, 0, 0, 0], self.s, self.dt)

    def lag(self, target, tau, band):
        e = (self.stored + self.p.steer_bias) - target
        e = e - band if e > band else e + band if e < -band else 0.0
        return sat(-e / max(tau, 0.03), self.p.steer_rate_lim)

    def _delay(self):
        p, dt = self.p, self.dt
        band = getattr(p, "steer_dead_band", 0.0)
        scale = max(getattr(p, "debug_acc_scaling_factor", 1.0), 0.0)
        target = sat(self.w, p.steer_lim) * max(getattr(p, "debug_steer_scaling_factor", 1.0), 0.0)
        dd = self.lag(target, p.steer_time_constant, band)
        if self.name == "delay_steer_vel":

            def f(s):
                v = sat(s[3], p.vel_lim)
                e = -(v - sat(self.u, p.vel_lim)) / max(p.vel_time_constant, 0.03)
                return [*self.motion(s, v, sat(s[4], p.steer_lim)), sat(e, p.vel_rate_lim), dd, 0, 0]

            self.s = rk4(f, self.s, dt)
            return
        tau = max(p.acc_time_constant, 0.03)
        u = sat(self.u, p.vel_rate_lim)
        if "wo_fall" in self.name:
            v, a = sat(self.s[3], p.vel_lim), sat(self.s[6], p.vel_rate_lim)
            q, g = self.slope, self.gear
            if a >= 0:
                dv = 0.0 if g in (0, 22) else q if g == 1 else -a + q if g in REVERSE else a + q
            else:
                dv = a + q if v > 0 else -a + q if v < 0 else 0.0 if -a >= abs(q) else q
            k = [*self.motion(self.s, v, self.s[4]), dv, dd, 0.0, -(a - u * scale) / tau]
            before = self.s[3]
            self.s = [x + one * dt for x, one in zip(self.s, k, strict=True)]
            self.s[3] = sat(self.s[3], p.vel_lim)
            if before * self.s[3] <= 0 and -self.s[6] >= abs(q):
                self.s[3] = 0.0
            self.s[5] = (self.s[3] - before) / dt
            return

        def g(s):
            v, a = sat(s[3], p.vel_lim), sat(s[5], p.vel_rate_lim)
            wanted = look(p.acceleration_map, u, v) if "map" in self.name else u * scale
            return [*self.motion(s, v, s[4]), a, dd, -(a - wanted) / tau, 0]

        self.s = rk4(g, self.s, dt)
        self.s[3] = sat(self.s[3], p.vel_lim)

    def ratio(self, v, d):
        p = self.p
        wheel = ((p.vgr_coef_a + p.vgr_coef_b * v * v) * d) / (1 + p.vgr_coef_c * abs(d))
        return max(1e-5, p.vgr_coef_a + p.vgr_coef_b * v * v - p.vgr_coef_c * abs(wheel))

    def steering(self, v, d):
        p = self.p
        tau = max(p.steer_time_constant, 0.03)
        if self.name.endswith("mechanical"):
            return 0.0
        if self.name.endswith("steer_map"):
            return sat(look(p.steer_map, self.w, v) / tau, p.steer_rate_lim)
        target = self.w / self.ratio(v, d) if self.name.endswith("vgr") else self.w
        return sat(-((self.stored + p.steer_bias) - target) / tau, p.steer_rate_lim)

    def _actuation(self):
        p = self.p
        mechanical = self.name.endswith("mechanical")

        def f(s):
            v, a = sat(s[3], p.vel_lim), sat(s[5], p.vel_rate_lim)
            if p.convert_accel_cmd and self.u > 0:
                w = look(p.accel_map, self.u, v)
            elif p.convert_brake_cmd and self.b > 0:
                w = look(p.brake_map, self.b, v)
            else:
                w = self.u
            w = sat(w, p.vel_rate_lim)
            wanted = 0.0 if self.gear in (0, 22) else -w + self.slope if self.gear in REVERSE else w + self.slope
            tau = max(p.accel_time_constant if self.u > 0 else p.brake_time_constant, 0.03)
            return [*self.motion(s, v, s[4]), a, self.steering(s[3], s[4]), -(a - wanted) / tau, 0]

        self.s = rk4(f, self.s, self.dt, mechanical)
        if mechanical:
            v = self.s[3]
            target = self.w / self.ratio(v, self.stored)
            self.s[4] = self.mechanism(target, v, self.stored)
            self.previous_target = target
        self.s[3] = sat(self.s[3], p.vel_lim)
        self.s[4] = sat(self.s[4], p.steer_lim)

    def in_dead_zone(self, o, dz, tq):
        sgn = [z >= 0 for z in (tq, o)]
        small = abs(tq) < self.p.mechanical_params.dead_zone_threshold
        return True if sgn[0] != sgn[1] and small else small if dz else False

    def mechanism(self, target, v, theta):
        m, dt, w = self.p.mechanical_params, self.dt, abs(v)
        step = sat(sat(target, m.angle_limit) - self.previous_target, m.rate_limit * dt)
        c = sat(self.previous_target + step, m.angle_limit)
        now = self.q[-1][1] + dt if self.q else dt
        waited = bool(self.q) and now - self.q[0][1] >= m.torque_delay_time
        errors, torques = [], []

        def f(s):
            th, o = s
            e = c - th
            t1 = (m.kp * e + m.ki * (self.integral + e * dt)) + (0.0 if dt < 1e-6 else (m.kd * (e - self.e0)) / dt)
            t = m.ff_gain * c + t1
            t3 = m.poly_a * t * t * t + m.poly_b * t * t + m.poly_c * t + m.poly_d * w * w * w
            t3 = t3 + m.poly_e * w * w + m.poly_f * w + m.poly_g * t * w + m.poly_h
            tq = sat(t3, m.steering_torque_limit)
            errors.append(e)
            torques.append(tq)
            if not waited or self.in_dead_zone(o, self.dz, tq):
                return [0.0, 0.0]
            sgn = 1.0 if o >= 0 else -1.0
            return [o, (((tq - m.damping * o) - m.stiffness * th) - m.friction * sgn) / m.inertia]

        s = [theta, self.om]
        k1 = f(s)
        k2 = f([x + (k * 0.5) * dt for x, k in zip(s, k1, strict=True)])
        k3 = f([x + (k * 0.5) * dt for x, k in zip(s, k2, strict=True)])
        k4 = f([x + k * dt for x, k in zip(s, k3, strict=True)])
        mean = [(((a + 2 * b) + 2 * c_) + d) / 6 for a, b, c_, d in zip(k1, k2, k3, k4, strict=True)]
        theta = sat(theta + mean[0] * dt, m.angle_limit)
        self.om = sat(self.om + mean[1] * dt, m.rate_limit)
        self.e0 = (((errors[0] + 2 * errors[1]) + 2 * errors[2]) + errors[3]) / 6
        self.integral = self.integral + self.e0 * dt
        tm = (((torques[0] + 2 * torques[1]) + 2 * torques[2]) + torques[3]) / 6
        self.q.append((tm, now))
        if waited:
            self.q.pop(0)
        self.dz = self.in_dead_zone(self.om, self.dz, tm)
        return theta
