"""What programs and tools build on: parameters, vehicles, worlds, sensors, the ROS graph, descriptions and plants."""
