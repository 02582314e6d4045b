"""What every type of sensor publishes: topics, message types, frames and quality of service, in ROS and in Gazebo."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stream:
    """One topic of a sensor.

    Attributes:
        ros: Topic in ROS, after the sensor's name; ``lidar1`` has ``lidar1/points``.
        ros_type: Its type.
        gz: Topic in Gazebo, after ``/model/<vehicle>/`` and the sensor's name.
        gz_type: Its type.
        optical: The frame is ``<sensor>_optical_frame``, which looks along z, not ``<sensor>``, which looks along x.
        depth: Queue. All are reliable and volatile, which suits readers of any kind: RViz wants reliable ones, and
            those who read with the sensor profile take them too.
    """

    ros: str
    ros_type: str
    gz: str
    gz_type: str
    optical: bool = False
    depth: int = 10

    def frame(self, sensor: str) -> str:
        """The frame that the messages of a sensor are in."""
        return f"{sensor}_optical_frame" if self.optical else sensor

    def topic(self, sensor: str) -> str:
        """The topic of a sensor in ROS."""
        return f"{sensor}/{self.ros}"


_POINTS = Stream("points", "sensor_msgs/msg/PointCloud2", "points", "gz.msgs.PointCloudPacked")

#: What lidars in one plane publish.
SCAN = Stream("scan", "sensor_msgs/msg/LaserScan", "scan", "gz.msgs.LaserScan")
_IMAGE = Stream("image_raw", "sensor_msgs/msg/Image", "image", "gz.msgs.Image", optical=True)
_CAMERA_INFO = Stream("camera_info", "sensor_msgs/msg/CameraInfo", "camera_info", "gz.msgs.CameraInfo", optical=True)
_DEPTH = Stream("depth/image_raw", "sensor_msgs/msg/Image", "depth_image", "gz.msgs.Image", optical=True)


def is_of_sensor(topic: str) -> bool:
    """Whether a topic in a vehicle's namespace is of a sensor: ``lidar1/scan``, or ``scan`` where remapped so."""
    names = {stream.ros for streams in STREAMS.values() for stream in streams}
    return not names.isdisjoint((topic, topic.partition("/")[2]))


#: The topics of a sensor by what its parameter ``type`` says.
STREAMS: dict[str, tuple[Stream, ...]] = {
    "helios_32_fov_26": (_POINTS,),
    "helios_32_fov_31": (_POINTS,),
    "helios_32_fov_70": (_POINTS,),
    "ouster_os1": (_POINTS,),
    "velodyne_vlp16": (_POINTS,),
    "lidar2d": (SCAN,),
    "rplidar_a2": (SCAN,),
    "imu": (Stream("data", "sensor_msgs/msg/Imu", "imu", "gz.msgs.IMU"),),
    "camera": (_IMAGE, _CAMERA_INFO),
    # Its points are in the frame that looks along x, whatever Gazebo writes into them.
    "rgbd_camera": (_IMAGE, _CAMERA_INFO, _DEPTH, _POINTS),
    "gnss": (Stream("fix", "sensor_msgs/msg/NavSatFix", "navsat", "gz.msgs.NavSat"),),
}
