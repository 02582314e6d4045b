import contextlib
import struct
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError
from vds_gz.core.ros.messages import portable as types_module
from vds_gz.core.ros.messages.portable import MalformedMessageError, MessageTypes, UnknownTypeError

# As an installed ROS 2 Jazzy has them, in share/<package>/{msg,srv}/<Name>.json.
HASHES = {
    "nav_msgs/msg/Odometry": "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0",
    "ackermann_msgs/msg/AckermannDriveStamped": "RIHS01_48ca7612a08d3bb72744fd98b71b7cf2ea24c6ad50fa4e1aa0bbad963c90d8cf",
    "four_wheel_steering_msgs/msg/FourWheelSteering": (
        "RIHS01_1431acb63840f42e506aa3352ec54dd0f891fd47b74e28c6570d71d07b7cebc1"
    ),
    "four_wheel_steering_msgs/msg/FourWheelSteeringStamped": (
        "RIHS01_123d763d961c1089de22529487bb8153a7a338bd25506e319ae9594f508576c7"
    ),
    "rcl_interfaces/srv/GetParameters_Request": "RIHS01_135a9e1c3d7cebef792f6687d7ddf99949b21a0bd9a320d863a9110a3f5cf4d6",
    "rcl_interfaces/srv/GetParameters_Response": "RIHS01_9fa773b46e39cc5d02db6224d8fd520bb9caeeffc2b27c96c1e59431baba9f2a",
    "std_srvs/srv/Empty_Request": "RIHS01_458eaf200a3f63d9cc53d19436edebc0c140ef4c93ca75d5bd4ce19fd7759e35",
    "std_srvs/srv/Empty_Response": "RIHS01_0a2858b3f60df644a61d0fa44cfc923a3d3628e0ad9c8ad8534b1a2c92a413dc",
    "service_msgs/msg/ServiceEventInfo": "RIHS01_41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45",
    "rmw_dds_common/msg/ParticipantEntitiesInfo": "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e",
}
TYPES = MessageTypes()
numbers = st.floats(allow_nan=False)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def own_types() -> list[str]:
    """Every type that is defined by a file beside the module."""
    root = Path(types_module.__file__).parent / "msg"
    messages = [f"{path.relative_to(root).with_suffix('')}" for path in root.rglob("*.msg")]
    services = [f"{path.relative_to(root).with_suffix('')}" for path in root.rglob("*.srv")]
    return sorted(messages + [f"{name}_{part}" for name in services for part in ("Request", "Response")])


def test_defaults_are_those_of_the_definition() -> None:
    odometry = TYPES.new("nav_msgs/msg/Odometry")
    assert odometry.pose.pose.orientation.w == 1.0
    assert odometry.pose.pose.orientation.x == 0.0
    assert odometry.header.frame_id == ""
    assert odometry.pose.covariance.dtype == np.float64
    assert odometry.pose.covariance.shape == (36,)
    assert TYPES.new("geometry_msgs/msg/TransformStamped").transform.rotation.w == 1.0


def test_an_installed_package_brings_definitions(tmp_path, monkeypatch) -> None:
    (tmp_path / "radio_messages.py").write_text(
        "from pathlib import Path\nMESSAGES = Path(__file__).with_name('definitions')\n"
    )
    (tmp_path / "definitions" / "radio_msgs" / "msg").mkdir(parents=True)
    definition = tmp_path / "definitions" / "radio_msgs" / "msg" / "Radio.msg"
    definition.write_text(
        "std_msgs/Header header\nfloat32 throttle\nuint8 LOW = 1\nstring NAME=two words\nuint8 quality 7\t# of 10\n"
        "float32 gain 1e1\nbool on true\nstring label \"a = b\"\nstring mode off\nint32[3] trim [1, -2, 3]\nstring<=9[] ways ['x']\n"
    )
    info = tmp_path / "radio-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: radio\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vds_gz.messages]\nradio = radio_messages:MESSAGES\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    types = MessageTypes()
    message = types.new("radio_msgs/msg/Radio")
    message.throttle = 0.5
    codec = types.codec("radio_msgs/msg/Radio")
    assert codec.decode(bytearray(codec.encode(message))).throttle == 0.5
    message.trim[0], message.ways[0] = 5, "y"
    fresh = types.new("radio_msgs/msg/Radio")
    assert (fresh.throttle, fresh.quality, fresh.gain, fresh.on, fresh.label) == (0.0, 7, 10.0, True, "a = b")
    assert (fresh.mode, fresh.trim.dtype) == ("off", np.int32)
    assert (fresh.trim.tolist(), fresh.ways) == ([1, -2, 3], ["x"])


@pytest.mark.parametrize(
    ("kind", "text"), [("int32[]", "12"), ("int32[]", "[[1]]"), ("bool", "yes"), ("uint8", "x"), ("float64[]", "[a]")]
)
def test_defaults_that_do_not_fit_their_field_are_refused(kind, text) -> None:
    with pytest.raises(ValueError, match=r"12|\[1|yes|x|a"):
        types_module._default(kind, text)


def test_sequences_begin_empty_and_of_their_type() -> None:
    scan = TYPES.new("sensor_msgs/msg/LaserScan")
    assert scan.ranges.dtype == np.float32
    assert len(scan.ranges) == 0
    assert TYPES.new("sensor_msgs/msg/JointState").name == []
    assert TYPES.new("tf2_msgs/msg/TFMessage").transforms == []
    assert TYPES.new("rmw_dds_common/msg/Gid").data.dtype == np.uint8


def test_new_messages_share_nothing() -> None:
    first, second = TYPES.new("nav_msgs/msg/Odometry"), TYPES.new("nav_msgs/msg/Odometry")
    first.pose.covariance[0] = first.pose.pose.position.x = 5.0
    assert second.pose.covariance[0] == second.pose.pose.position.x == 0.0


@pytest.mark.parametrize("name", HASHES)
def test_type_hashes_are_those_of_jazzy(name: str) -> None:
    assert MessageTypes().hash(name) == HASHES[name]


@pytest.mark.parametrize("name", own_types())
def test_own_definitions_are_complete(name: str) -> None:
    codec = TYPES.codec(name)
    data = codec.encode(TYPES.new(name))
    assert codec.encode(codec.decode(data)) == data
    assert TYPES.hash(name).startswith("RIHS01_")


@pytest.mark.parametrize("name", ["nav_msgs/msg/Odometri", "std_srvs/srv/Trigger", "x_msgs/msg/Y", "nonsense"])
def test_an_unknown_type_is_refused_with_the_missing_file(name: str) -> None:
    with pytest.raises(UnknownTypeError, match=r"there is no .* in .*/messages/msg"):
        MessageTypes().new(name)


def test_encoding_is_little_endian_cdr() -> None:
    twist = TYPES.new("geometry_msgs/msg/Twist")
    twist.linear.x, twist.angular.z = 1.5, -0.25
    data = TYPES.codec("geometry_msgs/msg/Twist").encode(twist)
    assert data == b"\0\1\0\0" + struct.pack("<6d", 1.5, 0, 0, 0, 0, -0.25)


def test_a_header_goes_before_the_fields() -> None:
    codec = TYPES.codec("std_srvs/srv/SetBool_Request")
    request = TYPES.new("std_srvs/srv/SetBool_Request")
    request.data = True
    data = codec.encode(request, b"0123456789abcdef")
    assert data == b"\0\1\0\0" + b"0123456789abcdef" + b"\1\0\0\0"
    assert codec.decode(data, 16).data is True


@given(st.lists(texts), st.lists(numbers), st.lists(numbers), texts, st.integers(-(2**31), 2**31 - 1))
def test_joint_states_survive(
    names: list[str], position: list[float], effort: list[float], frame: str, sec: int
) -> None:
    message = TYPES.new("sensor_msgs/msg/JointState")
    message.header.frame_id, message.header.stamp.sec = frame, sec
    message.name, message.position, message.effort = names, np.array(position), np.array(effort)
    codec = TYPES.codec("sensor_msgs/msg/JointState")
    data = codec.encode(message)
    read = codec.decode(data)
    assert len(data) % 4 == 0
    assert (read.name, list(read.position), list(read.effort)) == (names, position, effort)
    assert (read.header.frame_id, read.header.stamp.sec) == (frame, sec)


@given(st.lists(st.tuples(texts, texts, numbers), max_size=5))
def test_transforms_survive(transforms: list[tuple[str, str, float]]) -> None:
    message = TYPES.new("tf2_msgs/msg/TFMessage")
    for parent, child, x in transforms:
        transform = TYPES.new("geometry_msgs/msg/TransformStamped")
        transform.header.frame_id, transform.child_frame_id, transform.transform.translation.x = parent, child, x
        message.transforms.append(transform)
    codec = TYPES.codec("tf2_msgs/msg/TFMessage")
    read = codec.decode(codec.encode(message))
    assert [(t.header.frame_id, t.child_frame_id, t.transform.translation.x) for t in read.transforms] == transforms


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [
            "tf2_msgs/msg/TFMessage",
            "sensor_msgs/msg/JointState",
            "rcl_interfaces/srv/SetParameters_Request",
            "std_msgs/msg/Float64",
        ]
    ),
)
def test_any_bytes_are_a_message_or_malformed(payload: bytes, name: str) -> None:
    for data in (payload, b"\0\1\0\0" + payload):
        with contextlib.suppress(MalformedMessageError):
            TYPES.codec(name).decode(bytearray(data))


def test_every_cut_message_is_malformed() -> None:
    codec = TYPES.codec("sensor_msgs/msg/JointState")
    message = TYPES.new("sensor_msgs/msg/JointState")
    message.name, message.position = ["left", "right"], np.ones(2)
    data = codec.encode(message)
    for length in range(len(data) - 4):
        with pytest.raises(MalformedMessageError):
            codec.decode(data[:length])
    with pytest.raises(MalformedMessageError, match="size mismatch"):
        codec.decode(data + bytes(8))


@pytest.mark.parametrize(
    ("name", "field", "values", "kind"),
    [
        ("sensor_msgs/msg/JointState", "position", [1, 2.5], "f8"),
        ("sensor_msgs/msg/JointState", "position", (), "f8"),
        ("sensor_msgs/msg/JointState", "velocity", np.array([1, 2]), "f8"),
        ("sensor_msgs/msg/JointState", "effort", np.array([1.5], "f4"), "f8"),
        ("sensor_msgs/msg/Joy", "buttons", [0, 1], "i4"),
        ("sensor_msgs/msg/Image", "data", b"ab", "u1"),
        ("nav_msgs/msg/Odometry", "pose.covariance", [0.5] * 36, "f8"),
        ("rcl_interfaces/msg/Parameter", "value.double_array_value", [0.5, 1.0], "f8"),
        ("rcl_interfaces/msg/Parameter", "value.bool_array_value", [True, False], "?"),
    ],
)
def test_any_sequence_of_numbers_is_converted(name, field, values, kind) -> None:
    message = TYPES.new(name)
    parent, _, last = field.rpartition(".")
    setattr(attrgetter(parent)(message) if parent else message, last, values)
    codec = TYPES.codec(name)
    read = attrgetter(field)(codec.decode(codec.encode(message)))
    assert read.dtype == np.dtype(kind)
    assert read.tolist() == list(values)


@pytest.mark.parametrize(
    ("name", "field", "value", "right"),
    [
        ("sensor_msgs/msg/Image", "data", [1, 300], "a sequence of numbers of type uint8"),
        ("sensor_msgs/msg/Joy", "buttons", [1.5], "a sequence of numbers of type int32"),
        ("sensor_msgs/msg/JointState", "position", 1.0, "a sequence of numbers of type float64"),
        ("sensor_msgs/msg/JointState", "position", ["a"], "a sequence of numbers of type float64"),
        ("sensor_msgs/msg/JointState", "position", np.zeros((2, 2)), "a sequence of numbers of type float64"),
        ("nav_msgs/msg/Odometry", "pose.covariance", [0.0], "must have 36"),
        ("sensor_msgs/msg/JointState", "name", [1], "a string"),
        ("sensor_msgs/msg/JointState", "name", "ab", "a list of strings"),
        ("sensor_msgs/msg/LaserScan", "ranges", [1e300], "a sequence of numbers of type float32"),
        ("std_msgs/msg/UInt8", "data", 300, "a number of type uint8"),
        ("std_msgs/msg/Float64", "data", "x", "a number of type float64"),
        ("std_msgs/msg/String", "data", 3, "a string"),
        ("nav_msgs/msg/Odometry", "pose.pose", None, "a geometry_msgs/msg/Pose"),
        ("tf2_msgs/msg/TFMessage", "transforms", [3], "a geometry_msgs/msg/TransformStamped"),
        ("tf2_msgs/msg/TFMessage", "transforms", 3, "a list"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_field(name, field, value, right) -> None:
    message = TYPES.new(name)
    parent, _, last = field.rpartition(".")
    setattr(attrgetter(parent)(message) if parent else message, last, value)
    with pytest.raises(ArgumentError, match=rf"a {name}: field '{field}.* must .*{right[5:]}"):
        TYPES.codec(name).encode(message)
