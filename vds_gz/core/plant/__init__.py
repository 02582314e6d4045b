"""What moves the vehicle: our own kinematics, Gazebo, or a robot behind a relay."""
