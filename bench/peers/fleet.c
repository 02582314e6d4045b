/* Many bicycles of vds_gz in plain C, one after the other: the peer of bench/fleet.py.
 *
 * The arithmetic of the Ackermann and the twist step (drive on the fixed axle, Ackermann's rule): dead time, saturation,
 * lag and rate limits of both actuators, wheel speeds and rolled angles, pose at mid-step. Parameters and commands are
 * those of each vehicle, in memory, as in a fleet; each vehicle does all steps before the next one begins, so that its
 * delay lines stay in the cache.
 *
 * Usage: fleet <vehicles> <steps> <kind: 0 twist, 1 Ackermann> <random dead times: 0 or 1>
 * Prints nanoseconds of processor time per vehicle and step, least of several rounds, and the pose of the first vehicle.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS 201
#define ROUNDS 5

typedef struct {
    double dt, wheelbase, half_track_fixed, half_track_steered, radius;
    double drive_decay, max_velocity, max_rise, max_fall;
    double steering_decay, max_position, max_change;
    long drive_delay, steering_delay;
} coefficients;

typedef struct {
    long kind;
    double v_x, yaw_rate, steering_angle, acceleration, steering_rate;
} command;

typedef struct {
    double references[SLOTS], rates[SLOTS];
    long head;
} line;

typedef struct {
    double velocity, angle, steering_rate;
    double x, y, heading, v_x, v_y, yaw_rate, speed[4], roll[4];
    line drive, steering;
} vehicle;

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

static double through(line *l, long delay, double reference, double rate, double *allowed) {
    l->references[l->head] = reference;
    l->rates[l->head] = rate;
    l->head = l->head < delay ? l->head + 1 : 0;
    *allowed = l->rates[l->head];
    return l->references[l->head];
}

static double excess(double angle, double limit) {
    double beyond = fabs(angle) - limit;
    return beyond > 0.0 ? beyond : 0.0;
}

static double steering_reference(const coefficients *c, const vehicle *s, const command *u) {
    if (u->kind != 0) return u->steering_angle;
    double angle = fabs(u->v_x) > 1e-12 ? atan2(c->wheelbase * u->yaw_rate, u->v_x) : 0.0;
    double opposite = angle > 0.0 ? angle - M_PI : angle + M_PI;
    double beyond = excess(angle, c->max_position) - excess(opposite, c->max_position);
    double further = fabs(angle - s->angle) - fabs(opposite - s->angle);
    return beyond > 0.0 || (beyond == 0.0 && further > 0.0) ? opposite : angle;
}

static void step_drive(const coefficients *c, vehicle *s, double reference, double rate) {
    double allowed, v = s->velocity, highest, lowest;
    double target = clamp(through(&s->drive, c->drive_delay, reference, rate, &allowed), -c->max_velocity, c->max_velocity);
    target -= c->drive_decay * (target - v);
    double limit = allowed * c->dt;
    double rise = limit < c->max_rise ? limit : c->max_rise, fall = limit < c->max_fall ? limit : c->max_fall;
    if (v >= 0.0) {
        highest = v + rise;
        lowest = v >= fall ? v - fall : (v / fall - 1.0) * rise;
    } else {
        lowest = v - rise;
        highest = -v >= fall ? v + fall : (v / fall + 1.0) * rise;
    }
    s->velocity = clamp(target, lowest, highest);
}

static void step_steering(const coefficients *c, vehicle *s, double reference, double rate) {
    double allowed;
    double target = clamp(through(&s->steering, c->steering_delay, reference, rate, &allowed), -c->max_position, c->max_position);
    target -= c->steering_decay * (target - s->angle);
    double limit = allowed * c->dt, change = limit < c->max_change ? limit : c->max_change;
    target = clamp(target, s->angle - change, s->angle + change);
    s->steering_rate = (target - s->angle) / c->dt;
    s->angle = target;
}

static double wheel_speed(double longitudinal, double lateral, double cosine, double sine) {
    return copysign(sqrt(longitudinal * longitudinal + lateral * lateral), longitudinal * cosine + lateral * sine);
}

static void step(const coefficients *c, vehicle *s, const command *u) {
    double angle = steering_reference(c, s, u);
    step_drive(c, s, u->v_x, u->acceleration);
    step_steering(c, s, angle, u->steering_rate);

    double cosine = cos(s->angle), sine = sin(s->angle), v_x = s->velocity;
    double yaw_rate = v_x * sine / (cosine * c->wheelbase);
    double side = yaw_rate * c->half_track_steered, ahead = yaw_rate * c->wheelbase;
    double fixed = yaw_rate * c->half_track_fixed;
    s->v_x = v_x;
    s->yaw_rate = yaw_rate;
    s->speed[0] = v_x - fixed;
    s->speed[1] = v_x + fixed;
    s->speed[2] = wheel_speed(v_x - side, ahead, cosine, sine);
    s->speed[3] = wheel_speed(v_x + side, ahead, cosine, sine);
    double roll = c->dt / c->radius;
    for (int i = 0; i < 4; i++) s->roll[i] += s->speed[i] * roll;

    double turn = yaw_rate * c->dt, middle = s->heading + 0.5 * turn;
    double along = cos(middle), across = sin(middle);
    s->x += (v_x * along - s->v_y * across) * c->dt;
    s->y += (v_x * across + s->v_y * along) * c->dt;
    s->heading += turn;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    long count = atol(argv[1]), steps = atol(argv[2]), kind = atol(argv[3]), spread = atol(argv[4]);
    double dt = 1e-3, best = INFINITY;
    coefficients *c = calloc(count, sizeof *c);
    vehicle *s = calloc(count, sizeof *s);
    command *u = calloc(count, sizeof *u);
    for (long i = 0; i < count; i++) {
        c[i] = (coefficients){dt, 1.6, 0.6, 0.6, 0.25, exp(-dt / 0.4), 2.0, 2.0 * dt, 2.0 * dt, exp(-dt / 0.05), M_PI / 6,
                              2.0 * dt, spread ? rand() % SLOTS : SLOTS - 1, spread ? rand() % SLOTS : SLOTS - 1};
        u[i] = (command){kind, 1.0, 0.3, 0.3, INFINITY, INFINITY};
        for (int k = 0; k < SLOTS; k++) s[i].drive.rates[k] = s[i].steering.rates[k] = INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double before = now();
        for (long i = 0; i < count; i++)
            for (long k = 0; k < steps; k++) step(c + i, s + i, u + i);
        double took = now() - before;
        best = took < best ? took : best;
    }
    printf("%.3f %.9g %.9g %.9g\n", best / count / steps * 1e9, s[0].x, s[0].y, s[0].heading);
    return 0;
}
