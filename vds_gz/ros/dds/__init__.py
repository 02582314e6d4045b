"""The graph over plain DDS, for where no ROS is installed."""

from vds_gz.ros.dds.graph import DdsGraph

__all__ = ["DdsGraph"]
