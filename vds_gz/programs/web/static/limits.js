// The vehicle's own limits, from the parameters of its actuators.

// Maximum speed [m/s] and steering angle [rad]; undefined without a limit, which a parameter of 0 means too.
export function limitsOf(values) {
  const find = (...endings) =>
    Object.entries(values).find(([name, value]) => value > 0 && endings.some((ending) => name.endsWith(ending)))?.[1];
  return {
    speed: find("drive_actuator.max_velocity", "drive_actuators.max_velocity", ".vel_lim"),
    steering: find("steering_actuator.max_position", ".steer_lim"),
  };
}
