/* Swerve robots and tuggers of vds_gz in plain C, one after the other: the peer of bench/steered_wheels.py.
 *
 * The arithmetic of the model `swerve` with four modules, and of `differential` with three trailers, for commands without
 * limits of rates: dead time, saturation, lag and rate limits of all actuators, the shorter way and cosine scaling of the
 * modules, the velocity that fits all wheels, trailers by the fourth-order method up to the limits of their hitches, pose
 * at mid-step. Stages that these vehicles do not use are left out. Sine and cosine are exact, from the C library.
 * Parameters are those of each vehicle, in memory, as in a fleet; references follow from the command before all steps.
 *
 * Usage: steered_wheels <kind: 0 swerve, 1 tugger> <vehicles> <steps>
 * Prints nanoseconds of processor time per vehicle and step, least of several rounds, and where the first vehicle is after
 * the first round: pose, and the angle of its last module or hitch.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLOTS 201
#define ROUNDS 5
#define MODULES 4
#define TRAILERS 3

typedef struct {
    double decay, max_velocity, max_rise, max_fall;
    long delay;
} drive_coefficients;

typedef struct {
    double decay, max_position, max_change, step_rate;
    long delay, turns_round;
} steering_coefficients;

typedef struct {
    double x, y, arm_x, arm_y;
} place;

typedef struct {
    double hitch_offset, drawbar, half_track, radius, max_angle;
    long skids;
} trailer_coefficients;

typedef struct {
    double dt, radius, track, middle_x, middle_y, square_arms;
    long optimize, cosine_scaling;
    drive_coefficients drive;
    steering_coefficients steering;
    place modules[MODULES];
    trailer_coefficients trailers[TRAILERS];
} coefficients;

typedef struct {
    double references[SLOTS];
    long head;
} line;

typedef struct {
    double velocity, roll, reference, steering_angle, steering_rate, direction;
    line drive_line, steering_line;
} wheel;

typedef struct {
    double angle, rate, speed, yaw_rate, roll_left, roll_right;
} trailer;

typedef struct {
    double x, y, heading, v_x, v_y, yaw_rate;
    wheel wheels[MODULES]; /* of a tugger: left, right */
    trailer trailers[TRAILERS];
} vehicle;

typedef struct {
    double v_x, v_y, yaw_rate;
} twist;

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

static double through(line *l, long delay, double reference) {
    l->references[l->head] = reference;
    l->head = l->head < delay ? l->head + 1 : 0;
    return l->references[l->head];
}

static double wrap(double angle) {
    if (-M_PI <= angle && angle <= M_PI) return angle;
    return angle - 2.0 * M_PI * floor((angle + M_PI) / (2.0 * M_PI));
}

static void step_drive(const drive_coefficients *c, wheel *s, double reference) {
    double target = clamp(through(&s->drive_line, c->delay, reference), -c->max_velocity, c->max_velocity);
    double velocity = s->velocity, speed = fabs(velocity), rise = c->max_rise, fall = c->max_fall;
    target -= c->decay * (target - velocity);
    double braked = speed >= fall ? speed - fall : (speed / fall - 1.0) * rise;
    s->velocity = velocity >= 0.0 ? clamp(target, braked, speed + rise) : clamp(target, -speed - rise, -braked);
}

static void step_steering(const steering_coefficients *c, wheel *s, double reference) {
    double before = s->steering_angle;
    double target = clamp(through(&s->steering_line, c->delay, reference), -c->max_position, c->max_position);
    if (c->turns_round) target = before + wrap(target - before);
    target -= c->decay * (target - before);
    s->steering_angle = clamp(target, before - c->max_change, before + c->max_change);
    s->steering_rate = (s->steering_angle - before) * c->step_rate;
}

static void integrate_pose(vehicle *s, double dt) {
    double turn = s->yaw_rate * dt, middle = s->heading + 0.5 * turn, cosine = cos(middle), sine = sin(middle);
    s->x += (s->v_x * cosine - s->v_y * sine) * dt;
    s->y += (s->v_x * sine + s->v_y * cosine) * dt;
    s->heading += turn;
}

/* ---- swerve */

static void swerve_references(const coefficients *c, vehicle *s, const twist *u) {
    double fastest = 0.0;
    for (int k = 0; k < MODULES; k++) {
        double x = u->v_x - u->yaw_rate * c->modules[k].y, y = u->v_y + u->yaw_rate * c->modules[k].x;
        double speed = sqrt(x * x + y * y);
        if (speed > 1e-12) s->wheels[k].direction = atan2(y, x);
        s->wheels[k].reference = speed;
        fastest = speed > fastest ? speed : fastest;
    }
    if (fastest > c->drive.max_velocity)
        for (int k = 0; k < MODULES; k++) s->wheels[k].reference *= c->drive.max_velocity / fastest;
}

static double between_stops(const steering_coefficients *c, double angle, double position) {
    angle += 2.0 * M_PI * floor((position - angle) / (2.0 * M_PI) + 0.5);
    double other = angle > 0.0 ? angle - 2.0 * M_PI : angle + 2.0 * M_PI;
    return fabs(angle) > c->max_position && fabs(other) < fabs(angle) ? other : angle;
}

static double travel(const steering_coefficients *c, double gap) {
    return fabs(c->turns_round ? wrap(gap) : gap);
}

static void follow_module(const coefficients *c, wheel *s) {
    const steering_coefficients *steering = &c->steering;
    double position = s->steering_angle, angle = s->direction, speed = s->reference;
    double opposite = angle > 0.0 ? angle - M_PI : angle + M_PI;
    if (!steering->turns_round) {
        angle = between_stops(steering, angle, position);
        opposite = between_stops(steering, opposite, position);
    }
    double cost = fmax(0.0, fabs(angle) - steering->max_position);
    double opposite_cost = fmax(0.0, fabs(opposite) - steering->max_position);
    if (c->optimize && cost == opposite_cost) {
        cost = travel(steering, angle - position);
        opposite_cost = travel(steering, opposite - position);
    }
    if (cost > opposite_cost) {
        angle = opposite;
        speed = -speed;
    }
    if (c->cosine_scaling) speed *= cos(angle - position);
    step_drive(&c->drive, s, speed);
    step_steering(steering, s, angle);
}

static void step_swerve(const coefficients *c, vehicle *s) {
    double sum_x = 0.0, sum_y = 0.0, moment = 0.0;
    for (int k = 0; k < MODULES; k++) {
        wheel *w = s->wheels + k;
        follow_module(c, w);
        double x = w->velocity * cos(w->steering_angle), y = w->velocity * sin(w->steering_angle);
        sum_x += x;
        sum_y += y;
        moment += c->modules[k].arm_x * y - c->modules[k].arm_y * x;
        w->roll += w->velocity * (c->dt / c->radius);
    }
    s->yaw_rate = moment / c->square_arms;
    s->v_x = sum_x / MODULES + s->yaw_rate * c->middle_y;
    s->v_y = sum_y / MODULES - s->yaw_rate * c->middle_x;
    integrate_pose(s, c->dt);
}

/* ---- tugger */

static void tugger_references(const coefficients *c, vehicle *s, const twist *u) {
    double half = 0.5 * c->track * u->yaw_rate, left = u->v_x - half, right = u->v_x + half;
    double fastest = fmax(fabs(left), fabs(right)), most = c->drive.max_velocity, scale = fastest > most ? most / fastest : 1.0;
    s->wheels[0].reference = left * scale;
    s->wheels[1].reference = right * scale;
}

/* Velocity of a body at its reference point or axle, replaced by that of the trailer behind; returns the hitch's rate. */
static double towed(const trailer_coefficients *c, double angle, twist *v) {
    double sine = sin(angle), cosine = cos(angle), across = v->v_y + c->hitch_offset * v->yaw_rate;
    double turn = (across * cosine - v->v_x * sine) / c->drawbar, rate = turn - v->yaw_rate;
    int skids = c->skids && fabs(angle) >= c->max_angle && rate * angle > 0.0;
    *v = (twist){v->v_x * cosine + across * sine, skids ? c->drawbar * rate : 0.0, skids ? v->yaw_rate : turn};
    return skids ? 0.0 : rate;
}

static void advance(const coefficients *c, vehicle *s, double dt) {
    for (int k = 0; k < TRAILERS; k++) {
        trailer *t = s->trailers + k;
        double roll = dt / c->trailers[k].radius, difference = c->trailers[k].half_track * t->yaw_rate;
        t->angle += t->rate * dt;
        t->roll_left += (t->speed - difference) * roll;
        t->roll_right += (t->speed + difference) * roll;
    }
}

static double mean(double first, double second, double third, double fourth) {
    return (first + 2.0 * (second + third) + fourth) / 6.0;
}

static double pull(const coefficients *c, vehicle *s) {
    twist v1 = {s->v_x, s->v_y, s->yaw_rate}, v2 = v1, v3 = v1, v4 = v1;
    double rest = 0.0, dt = c->dt;
    for (int k = 0; k < TRAILERS; k++) {
        const trailer_coefficients *t = c->trailers + k;
        trailer *behind = s->trailers + k;
        double angle = behind->angle, rate1 = towed(t, angle, &v1), rate2 = towed(t, angle + 0.5 * dt * rate1, &v2);
        double rate3 = towed(t, angle + 0.5 * dt * rate2, &v3), rate4 = towed(t, angle + dt * rate3, &v4);
        double rate = mean(rate1, rate2, rate3, rate4);
        double excess = fabs(angle + dt * rate) - fmax(t->max_angle, fabs(angle));
        if (excess > 0.0) {
            if (t->skids)
                rate -= copysign(excess / dt, rate);
            else
                rest = fmax(rest, fmin(excess / fabs(rate), dt));
        }
        behind->rate = rate;
        behind->speed = mean(v1.v_x, v2.v_x, v3.v_x, v4.v_x);
        behind->yaw_rate = mean(v1.yaw_rate, v2.yaw_rate, v3.yaw_rate, v4.yaw_rate);
    }
    advance(c, s, dt - rest);
    for (int k = 0; rest > 0.0 && k < TRAILERS; k++) {
        s->trailers[k].rate *= 1.0 - rest / dt;
        s->trailers[k].speed *= 1.0 - rest / dt;
        s->trailers[k].yaw_rate *= 1.0 - rest / dt;
    }
    return rest;
}

static void step_tugger(const coefficients *c, vehicle *s) {
    wheel *left = s->wheels, *right = s->wheels + 1;
    step_drive(&c->drive, left, left->reference);
    step_drive(&c->drive, right, right->reference);
    s->v_x = 0.5 * (left->velocity + right->velocity);
    s->yaw_rate = (right->velocity - left->velocity) / c->track;
    double rest = pull(c, s), roll = (c->dt - rest) / c->radius;
    left->roll += left->velocity * roll;
    right->roll += right->velocity * roll;
    integrate_pose(s, c->dt - rest);
    if (rest > 0.0) left->velocity = right->velocity = s->v_x = s->yaw_rate = 0.0;
}

/* ---- */

static coefficients parameters(double dt) {
    coefficients c = {
        .dt = dt, .track = 1.2, .square_arms = 4.0 * (0.3 * 0.3 + 0.25 * 0.25), .optimize = 1, .cosine_scaling = 1,
        .drive = {exp(-dt / 0.4), 2.0, 2.0 * dt, 2.0 * dt, SLOTS - 1},
        .steering = {exp(-dt / 0.05), INFINITY, 2.0 * dt, 1.0 / dt, SLOTS - 1, 1},
        .modules = {{0.3, 0.25, 0.3, 0.25}, {-0.3, 0.25, -0.3, 0.25}, {-0.3, -0.25, -0.3, -0.25}, {0.3, -0.25, 0.3, -0.25}},
    };
    for (int k = 0; k < TRAILERS; k++) c.trailers[k] = (trailer_coefficients){k ? -0.9 : -0.5, 0.9, 0.35, 0.125, 1.3, 0};
    return c;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    long tugger = atol(argv[1]), count = atol(argv[2]), steps = atol(argv[3]);
    double best = INFINITY;
    coefficients *c = calloc(count, sizeof *c);
    vehicle *s = calloc(count, sizeof *s), first = {0};
    twist *u = calloc(count, sizeof *u);
    for (long i = 0; i < count; i++) {
        c[i] = parameters(1e-3);
        c[i].radius = tugger ? 0.2 : 0.1;
        u[i] = tugger ? (twist){1.0, 0.0, 0.3} : (twist){1.0, 0.3, 0.5};
    }
    for (int round = 0; round < ROUNDS; round++) {
        double before = now();
        for (long i = 0; i < count; i++) {
            (tugger ? tugger_references : swerve_references)(c + i, s + i, u + i);
            if (tugger)
                for (long k = 0; k < steps; k++) step_tugger(c + i, s + i);
            else
                for (long k = 0; k < steps; k++) step_swerve(c + i, s + i);
        }
        double took = now() - before;
        best = took < best ? took : best;
        if (round == 0) first = s[0];
    }
    double angle = tugger ? first.trailers[TRAILERS - 1].angle : first.wheels[MODULES - 1].steering_angle;
    printf("%.3f %.17g %.17g %.17g %.17g\n", best / count / steps * 1e9, first.x, first.y, first.heading, angle);
    return 0;
}
