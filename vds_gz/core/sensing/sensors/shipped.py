"""The types of sensors of this package."""

from vds_gz.core.sensing.sensor import SensorType
from vds_gz.core.sensing.sensors.camera import CAMERA
from vds_gz.core.sensing.sensors.gnss import GNSS
from vds_gz.core.sensing.sensors.helios_32 import HELIOS_26, HELIOS_31, HELIOS_70
from vds_gz.core.sensing.sensors.imu import IMU
from vds_gz.core.sensing.sensors.lidar2d import LIDAR_2D
from vds_gz.core.sensing.sensors.ouster_os1 import OUSTER_OS1
from vds_gz.core.sensing.sensors.rgbd_camera import RGBD_CAMERA
from vds_gz.core.sensing.sensors.rplidar_a2 import RPLIDAR_A2
from vds_gz.core.sensing.sensors.velodyne_vlp16 import VELODYNE_VLP16
from vds_gz.core.sensing.sensors.wheel_encoder import WHEEL_ENCODER

#: The records, in the order in which references show them.
SENSORS: tuple[SensorType, ...] = (
    HELIOS_26,
    HELIOS_31,
    HELIOS_70,
    OUSTER_OS1,
    VELODYNE_VLP16,
    LIDAR_2D,
    RPLIDAR_A2,
    IMU,
    CAMERA,
    RGBD_CAMERA,
    GNSS,
    WHEEL_ENCODER,
)
