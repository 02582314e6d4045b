"""The topics of a vehicle and its own services: name, type, quality of service.

The types of commands are in :mod:`vds_gz.programs.interface.commands`, topics of sensors in
:mod:`vds_gz.core.sensing.sensors`, the standard simulator services in :mod:`vds_gz.programs.nodes.node_services`.
"""

from __future__ import annotations

from vds_gz.core.ros.graph import CLOCK_IN as CLOCK_IN
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.graph import Topic as Topic

LATCHED = QoS(depth=1, transient_local=True)
TRANSFORMS = QoS(depth=100)


TWIST_REFERENCE = Topic("twist_reference", "geometry_msgs/msg/Twist")
TWIST_STAMPED_REFERENCE = Topic("twist_stamped_reference", "geometry_msgs/msg/TwistStamped")
ACKERMANN_CMD = Topic("ackermann_cmd", "ackermann_msgs/msg/AckermannDriveStamped")
FOUR_WHEEL_STEERING_CMD = Topic("four_wheel_steering_cmd", "four_wheel_steering_msgs/msg/FourWheelSteeringStamped")
CMD_FOUR_WHEEL_STEERING = Topic("cmd_four_wheel_steering", "four_wheel_steering_msgs/msg/FourWheelSteering")
STEERING_ANGLE = Topic("steering_angle", "std_msgs/msg/Float64")
VELOCITY = Topic("velocity", "std_msgs/msg/Float64")
INITIALPOSE = Topic("initialpose", "geometry_msgs/msg/PoseWithCovarianceStamped")

TWIST_ACTUAL = Topic("twist_actual", "geometry_msgs/msg/TwistStamped")
ODOM = Topic("odom", "nav_msgs/msg/Odometry")
GROUND_TRUTH = Topic("ground_truth", "nav_msgs/msg/Odometry")
TF = Topic("/tf", "tf2_msgs/msg/TFMessage", TRANSFORMS)
TF_STATIC = Topic("/tf_static", "tf2_msgs/msg/TFMessage", LATCHED)
JOINT_STATES = Topic("joint_states", "sensor_msgs/msg/JointState")
ROBOT_DESCRIPTION = Topic("robot_description", "std_msgs/msg/String", LATCHED)
ACTUATOR_REFERENCES = Topic("actuator_references", "sensor_msgs/msg/JointState")
ACTUATOR_STATES = Topic("actuator_states", "sensor_msgs/msg/JointState")
#: In a world without Gazebo; with Gazebo, its contact sensor publishes it.
CONTACTS = Topic("contacts", "ros_gz_interfaces/msg/Contacts")
DIAGNOSTICS = Topic("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
#: The world around the vehicle, latched.
WORLD = Topic("world", "visualization_msgs/msg/MarkerArray", LATCHED)
CLOCK = Topic("/clock", "rosgraph_msgs/msg/Clock")

#: Outputs of AMCL: https://docs.nav2.org/configuration/packages/configuring-amcl.html
AMCL_POSE = Topic("amcl_pose", "geometry_msgs/msg/PoseWithCovarianceStamped", LATCHED)

#: Topics of vehicles of any model, besides the commands in :mod:`vds_gz.programs.interface.commands`.
VEHICLE = (
    INITIALPOSE,
    TWIST_ACTUAL,
    ODOM,
    GROUND_TRUTH,
    TF,
    TF_STATIC,
    JOINT_STATES,
    ROBOT_DESCRIPTION,
    ACTUATOR_REFERENCES,
    ACTUATOR_STATES,
    DIAGNOSTICS,
    CLOCK_IN,
)

#: Further topics of a vehicle in a world.
SURROUNDINGS = (WORLD, CONTACTS)

RESET = ("~/reset", "std_srvs/srv/Trigger")
PAUSE = ("~/pause", "std_srvs/srv/SetBool")

REINITIALIZE_LOCALIZATION = ("reinitialize_global_localization", "std_srvs/srv/Empty")
NOMOTION_UPDATE = ("request_nomotion_update", "std_srvs/srv/Empty")
AMCL_GET_STATE = ("amcl/get_state", "lifecycle_msgs/srv/GetState")
AMCL_CHANGE_STATE = ("amcl/change_state", "lifecycle_msgs/srv/ChangeState")
