"""What stands around the vehicle: a scene from an SDF world or a map, and the rays that meet it. No ROS, no clock."""
