"""The graph over plain DDS, for systems without ROS."""

from vds_gz.ros.dds.graph import DdsGraph

__all__ = ["DdsGraph"]
