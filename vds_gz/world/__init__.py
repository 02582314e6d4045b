"""The world around the vehicle: a scene from an SDF world or a map, and ray casting in it. No ROS, no clock."""
