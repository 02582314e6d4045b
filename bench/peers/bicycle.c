/* The bicycle of vds_gz (drive on the fixed axle, Ackermann's rule) as a plain C loop: the peer of bench/vehicle.py.
 *
 * Dead time, saturation, first-order lag and rate limit of both actuators, wheel speeds and wheel angles rolled, pose
 * integrated at mid-step. Parameters are constants of the program and commands come from the loop, so this is about as
 * little as the arithmetic can cost.
 *
 * Usage: bicycle <steps> [<steps per command>]    prints nanoseconds per step and the final pose
 */
#define _XOPEN_SOURCE 600
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS 201 /* a dead time of 200 steps */

typedef struct {
    double velocity, references[SLOTS];
    int head;
} drive;

typedef struct {
    double angle, rate, references[SLOTS];
    int head;
} steering;

typedef struct {
    drive drive;
    steering steering;
    double x, y, heading, v_x, yaw_rate, roll[4], speed[4];
} vehicle;

typedef struct {
    double dt, drive_decay, steering_decay, max_velocity, max_change_velocity, max_position, max_change_angle;
    double wheel_base, half_track, wheel_radius;
} constants;

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

static double enter(double *line, int *head, double reference) {
    line[*head] = reference;
    *head = *head + 1 < SLOTS ? *head + 1 : 0;
    return line[*head];
}

static void step(const constants *c, vehicle *s, double speed, double yaw_rate) {
    double across = c->wheel_base * yaw_rate;
    double reference = fabs(speed) > 1e-12 ? atan2(across, speed) : 0.0;
    double opposite = reference > 0.0 ? reference - M_PI : reference + M_PI;
    if (fabs(opposite) < fabs(reference)) reference = opposite;

    double target = clamp(enter(s->drive.references, &s->drive.head, speed), -c->max_velocity, c->max_velocity);
    target -= c->drive_decay * (target - s->drive.velocity);
    s->drive.velocity = clamp(target, s->drive.velocity - c->max_change_velocity,
                              s->drive.velocity + c->max_change_velocity);

    target = clamp(enter(s->steering.references, &s->steering.head, reference), -c->max_position, c->max_position);
    target -= c->steering_decay * (target - s->steering.angle);
    target = clamp(target, s->steering.angle - c->max_change_angle, s->steering.angle + c->max_change_angle);
    s->steering.rate = (target - s->steering.angle) / c->dt;
    s->steering.angle = target;

    double cosine = cos(target), sine = sin(target);
    double v_x = s->drive.velocity;
    double w = v_x * sine / (cosine * c->wheel_base);
    double bulge = w * c->half_track, ahead = w * c->wheel_base;
    double fastest = fabs(v_x) + fabs(bulge);
    if (fastest > c->max_velocity) {
        double scale = c->max_velocity / fastest;
        v_x *= scale, w *= scale, bulge *= scale, ahead *= scale;
    }
    s->v_x = v_x;
    s->yaw_rate = w;
    s->speed[0] = v_x - bulge;
    s->speed[1] = v_x + bulge;
    s->speed[2] = copysign(sqrt(s->speed[0] * s->speed[0] + ahead * ahead), s->speed[0] * cosine + ahead * sine);
    s->speed[3] = copysign(sqrt(s->speed[1] * s->speed[1] + ahead * ahead), s->speed[1] * cosine + ahead * sine);
    for (int i = 0; i < 4; i++) s->roll[i] += s->speed[i] * c->dt / c->wheel_radius;

    double turn = w * c->dt, middle = s->heading + 0.5 * turn;
    s->x += v_x * cos(middle) * c->dt;
    s->y += v_x * sin(middle) * c->dt;
    s->heading += turn;
}

int main(int argc, char **argv) {
    long steps = argc > 1 ? atol(argv[1]) : 1000000;
    long held = argc > 2 ? atol(argv[2]) : steps;
    double dt = 1e-3;
    constants c = {.dt = dt,
                   .drive_decay = exp(-dt / 0.4),
                   .steering_decay = exp(-dt / 0.05),
                   .max_velocity = 2.0,
                   .max_change_velocity = 2.0 * dt,
                   .max_position = M_PI / 6,
                   .max_change_angle = 2.0 * dt,
                   .wheel_base = 1.6,
                   .half_track = 0.6,
                   .wheel_radius = 0.25};
    vehicle s = {0};
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (long i = 0; i < steps; i++) step(&c, &s, 1.0, (i / held) % 2 ? -0.2 : 0.3);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double seconds = (after.tv_sec - before.tv_sec) + 1e-9 * (after.tv_nsec - before.tv_nsec);
    printf("%.3f %.9g %.9g %.9g\n", seconds / steps * 1e9, s.x, s.y, s.heading);
    return 0;
}
