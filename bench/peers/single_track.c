/* Cars on tyres of vds_gz in plain C, one after the other: the peer of bench/single_track.py.
 *
 * The arithmetic of the model `single_track` with Ackermann commands, drive on the fixed axle, Ackermann's rule and an
 * uncurved tyre: actuators, driving force within friction, the method with two derivatives, blending near standstill,
 * pose and wheels. Sine, cosine and arctangent are exact, from the C library. Parameters and commands are those of each car.
 *
 * Usage: single_track <vehicles> <steps>
 * Prints nanoseconds of processor time per vehicle and step, least of several rounds, and the pose of the first car after
 * the first round.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS 201
#define ROUNDS 5
#define G 9.81

typedef struct {
    double dt, wheelbase, half_track, radius, drive_decay, max_velocity, max_rise, steering_decay, max_position, max_change;
    long delay;
    double cg, lever, gyration, load, shift, grip, slope_fixed, slope_steered, shape, least_speed, drag, rolling, rolling_rate;
    double push_forwards, push_backwards, brake_forwards, brake_backwards, kinematic_square, blend_rate, blending;
} coefficients;

typedef struct {
    double v_x, steering_angle, acceleration, steering_rate;
} command;

typedef struct {
    double references[SLOTS], rates[SLOTS];
    long head;
} line;

typedef struct {
    double velocity, angle, steering_rate, x, y, heading, v_x, v_y, yaw_rate, load, slope, bank, sine, cosine, speed[4], roll[4];
    line drive, steering;
} vehicle;

typedef struct {
    double x, y, yaw;
} triple;

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

static void actuate(const coefficients *c, vehicle *s, const command *u) {
    double allowed, v = s->velocity;
    double target = clamp(through(&s->drive, c->delay, u->v_x, u->acceleration, &allowed), -c->max_velocity, c->max_velocity);
    target -= c->drive_decay * (target - v);
    double change = fmin(allowed * c->dt, c->max_rise);
    s->velocity = clamp(target, v - change, v + change);
    target = clamp(through(&s->steering, c->delay, u->steering_angle, u->steering_rate, &allowed), -c->max_position, c->max_position);
    target -= c->steering_decay * (target - s->angle);
    change = fmin(allowed * c->dt, c->max_change);
    target = clamp(target, s->angle - change, s->angle + change);
    s->steering_rate = (target - s->angle) / c->dt;
    s->angle = target;
}

static double resistance(const coefficients *c, double v_x) {
    return -c->drag * fabs(v_x) * v_x - c->rolling * clamp(v_x * c->rolling_rate, -1.0, 1.0);
}

typedef struct {
    double push_fixed, push_steered, grip_fixed, grip_steered;
} forces;

/* An axle's contact with the road: its motion along and across its wheels, its forces, and how they rise with slip. */
typedef struct {
    double along, side, rolling, rise, ahead, lateral;
} contact;

static double tire(const coefficients *c, double grip, double slope, contact *k) {
    k->rolling = fmax(fabs(k->along), c->least_speed);
    double x = slope * atan(k->side / k->rolling), angle = c->shape * atan(x);
    k->rise = -grip * slope * c->shape * cos(angle) / (1.0 + x * x);
    return -grip * sin(angle);
}

static triple accelerations(const coefficients *c, const vehicle *s, double sine, double cosine, const forces *f, triple v,
                            contact *steered, contact *fixed) {
    double across = v.y + c->lever * v.yaw;
    *steered = (contact){.along = v.x * cosine + across * sine, .side = across * cosine - v.x * sine};
    *fixed = (contact){.along = v.x, .side = v.y - c->cg * v.yaw, .ahead = f->push_fixed};
    double side = tire(c, f->grip_steered, c->slope_steered, steered);
    steered->ahead = f->push_steered * cosine - side * sine;
    steered->lateral = side * cosine + f->push_steered * sine;
    fixed->lateral = tire(c, f->grip_fixed, c->slope_fixed, fixed);
    double a_x = fixed->ahead + steered->ahead + s->slope + resistance(c, v.x) + v.yaw * v.y;
    double a_y = fixed->lateral + steered->lateral + s->bank - v.yaw * v.x;
    return (triple){a_x, a_y, (c->lever * steered->lateral - c->cg * fixed->lateral) / c->gyration};
}

static double force_rate(const contact *k, double along_rate, double side_rate) {
    double grows = k->along == k->rolling ? along_rate : k->along == -k->rolling ? -along_rate : 0.0;
    return k->rise / (k->side * k->side + k->rolling * k->rolling) * (k->rolling * side_rate - k->side * grows);
}

static triple derivatives(const coefficients *c, const vehicle *s, double sine, double cosine, const forces *f, triple v,
                          triple *jerk) {
    contact steered, fixed;
    double rate = fabs(s->steering_rate * c->dt) < 0.1 ? s->steering_rate : 0.0;
    triple a = accelerations(c, s, sine, cosine, f, v, &steered, &fixed);
    double across = a.y + c->lever * a.yaw;
    double force = force_rate(&steered, a.x * cosine + across * sine + rate * steered.side,
                              across * cosine - a.x * sine - rate * steered.along);
    double fixed_rate = force_rate(&fixed, a.x, a.y - c->cg * a.yaw);
    double ahead = -force * sine - rate * steered.lateral, lateral = force * cosine + rate * steered.ahead;
    double slowing = -2.0 * c->drag * fabs(v.x) - (fabs(v.x * c->rolling_rate) < 1.0 ? c->rolling * c->rolling_rate : 0.0);
    *jerk = (triple){ahead + slowing * a.x + a.yaw * v.y + v.yaw * a.y, fixed_rate + lateral - a.yaw * v.x - v.yaw * a.x,
                     (c->lever * lateral - c->cg * fixed_rate) / c->gyration};
    return a;
}

static double wheel_speed(const coefficients *c, const vehicle *s, double y, double sine, double cosine) {
    double forward = c->wheelbase * cosine - y * sine, sideways = c->wheelbase * sine;
    double length = copysign(sqrt(forward * forward + sideways * sideways), forward * cosine + sideways * sine);
    double v_y = s->v_y + (c->wheelbase - c->cg) * s->yaw_rate;
    return ((s->v_x - s->yaw_rate * y) * forward + v_y * sideways) / length;
}

static void slide(const coefficients *c, vehicle *s) {
    double passive = s->slope + resistance(c, s->v_x), dt = c->dt;
    triple v = {s->v_x, s->v_y, s->yaw_rate};
    double push = (s->velocity - v.x) / dt - passive + s->load;
    int brakes = push * v.x < 0.0;
    push = clamp(push, brakes ? -c->brake_backwards : -c->push_backwards, brakes ? c->brake_forwards : c->push_forwards);
    double load = clamp(c->load - push * c->shift, 0.0, 1.0), steered = brakes ? load * push : 0.0, fixed = push - steered;
    double most_fixed = c->grip * (1.0 - load), most = c->grip * load;
    forces f = {fixed, steered, sqrt(fmax(most_fixed * most_fixed - fixed * fixed, 0.0)),
                sqrt(fmax(most * most - steered * steered, 0.0))};
    triple j, a = derivatives(c, s, s->sine, s->cosine, &f, v, &j);
    triple end = {v.x + dt * (a.x + 0.5 * dt * j.x), v.y + dt * (a.y + 0.5 * dt * j.y),
                  v.yaw + dt * (a.yaw + 0.5 * dt * j.yaw)};
    double sine = s->sine = sin(s->angle), cosine = s->cosine = cos(s->angle);
    contact ignored[2];
    triple b = accelerations(c, s, sine, cosine, &f, end, ignored, ignored + 1);
    triple n = {v.x + dt / 3.0 * (2.0 * a.x + b.x + 0.5 * dt * j.x), v.y + dt / 3.0 * (2.0 * a.y + b.y + 0.5 * dt * j.y),
                v.yaw + dt / 3.0 * (2.0 * a.yaw + b.yaw + 0.5 * dt * j.yaw)};
    triple mean = {v.x + dt / 12.0 * (5.0 * a.x + b.x + dt * j.x), v.y + dt / 12.0 * (5.0 * a.y + b.y + dt * j.y),
                   v.yaw + dt / 12.0 * (5.0 * a.yaw + b.yaw + dt * j.yaw)};

    double square = n.x * n.x + n.y * n.y + c->gyration * n.yaw * n.yaw;
    double weight = clamp((square - c->kinematic_square) * c->blend_rate, 0.0, 1.0), kinematic = (1.0 - weight) * c->blending;
    kinematic /= weight + kinematic;
    double turn = sine / (c->wheelbase * cosine), sideways = c->cg * turn;
    double speed = (n.x + sideways * n.y + c->gyration * turn * n.yaw) / (1.0 + sideways * sideways + c->gyration * turn * turn);
    n.x += kinematic * (speed - n.x);
    n.y += kinematic * (speed * sideways - n.y);
    n.yaw += kinematic * (speed * turn - n.yaw);
    mean.x += kinematic * (0.5 * (v.x + n.x) - mean.x);
    mean.y += kinematic * (0.5 * (v.y + n.y) - mean.y);
    mean.yaw += kinematic * (0.5 * (v.yaw + n.yaw) - mean.yaw);
    s->load = push + passive - (n.x - v.x) / dt;
    s->v_x = n.x;
    s->v_y = n.y;
    s->yaw_rate = n.yaw;

    double heading = s->heading + 0.5 * mean.yaw * dt, along = cos(heading), across = sin(heading);
    mean.y -= c->cg * mean.yaw;
    s->x += (mean.x * along - mean.y * across) * dt;
    s->y += (mean.x * across + mean.y * along) * dt;
    s->heading += mean.yaw * dt;
    s->speed[0] = n.x - n.yaw * c->half_track;
    s->speed[1] = n.x + n.yaw * c->half_track;
    s->speed[2] = wheel_speed(c, s, c->half_track, sine, cosine);
    s->speed[3] = wheel_speed(c, s, -c->half_track, sine, cosine);
    for (int i = 0; i < 4; i++) s->roll[i] += s->speed[i] * (dt / c->radius);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long count = atol(argv[1]), steps = atol(argv[2]);
    double dt = 1e-3, best = INFINITY, x = 0.0, y = 0.0, heading = 0.0;
    double mu = 0.9, cg = 0.8, shift = 0.4 / (G * 1.6), shape = 1.4, gyration = 320.0 / 500.0, grip = mu * G;
    double least = G * 14.0 * (1.0 + cg * cg / gyration) * dt / 2.0, blend = 0.5;
    coefficients *c = calloc(count, sizeof *c);
    vehicle *s = calloc(count, sizeof *s);
    command *u = calloc(count, sizeof *u);
    for (long i = 0; i < count; i++) {
        c[i] = (coefficients){dt, 1.6, 0.6, 0.25, exp(-dt / 0.4), 30.0, 5.0 * dt, exp(-dt / 0.05), M_PI / 6, 2.0 * dt, SLOTS - 1,
                              cg, 1.6 - cg, gyration, 0.5, shift, grip, 14.0 / (shape * mu), 12.0 / (shape * mu), shape, least,
                              0.0, 0.0, 20.0, grip * 0.5 / (1.0 - grip * shift), grip * 0.5 / (1.0 + grip * shift), grip, grip,
                              0.25 * blend * blend, 1.0 / (0.75 * blend * blend), dt / 0.02};
        u[i] = (command){8.0, 0.1, INFINITY, INFINITY};
        s[i].cosine = 1.0;
        for (int k = 0; k < SLOTS; k++) s[i].drive.rates[k] = s[i].steering.rates[k] = INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (long i = 0; i < count; i++)
            for (long k = 0; k < steps; k++) {
                actuate(c + i, s + i, u + i);
                slide(c + i, s + i);
            }
        double took = now() - start;
        best = took < best ? took : best;
        if (round == 0) x = s[0].x, y = s[0].y, heading = s[0].heading;
    }
    printf("%.3f %.9g %.9g %.9g\n", best / count / steps * 1e9, x, y, heading);
    return 0;
}
