import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vds_gz.core.errors import ArgumentError
from vds_gz.core.parameters.yaml_reader import parse_value
from vds_gz.core.ros.arguments import Arguments, Remap, expand, parse, remap
from vds_gz.core.ros.graph import Severity

tokens = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
namespaces = st.lists(tokens, max_size=3).map(lambda parts: "/" + "/".join(parts))
names = st.builds(
    lambda front, parts: front + "/".join(parts),
    st.sampled_from(["", "/", "~/"]),
    st.lists(tokens, min_size=1, max_size=3),
)


def ros(*arguments: str) -> Arguments:
    return parse(["--ros-args", *arguments], "sim_node")


def values(arguments: Arguments) -> dict[str, object]:
    return {override.name: override.value for override in arguments.overrides}


def refusal(call: Callable[[], object]) -> str:
    """The message of a refusal; empty if the call succeeds."""
    try:
        call()
    except ArgumentError as error:
        return str(error)
    return ""


@pytest.fixture
def write(tmp_path: Path):
    def write_file(text: str, name: str = "robot.yaml") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write_file


# Arguments that belong to ROS, and others


def test_nothing_given() -> None:
    assert parse([], "sim_node") == Arguments("sim_node")


def test_only_sections_are_for_ros() -> None:
    arguments = parse(
        ["run", "--ros-args", "-p", "a:=1", "--", "-p", "--ros-args", "-r", "x:=y", "--ros-args", "-r", "u:=v"], "n"
    )
    assert arguments.rest == ("run", "-p")
    assert values(arguments) == {"a": 1}
    assert [rule.old for rule in arguments.remaps] == ["x", "u"]


def test_ros_options_without_effect_are_accepted() -> None:
    arguments = ros(
        "--enable-rosout-logs",
        "--disable-stdout-logs",
        "--disable-external-lib-logs",
        "--log-config-file",
        "log.yaml",
        "--enclave",
        "/here",
        "-p",
        "a:=1",
    )
    assert values(arguments) == {"a": 1}
    assert arguments.rest == ()


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (["--frobnicate"], "'--frobnicate' after --ros-args is unknown"),
        (["-p"], "'-p' is the last one; its value is missing"),
        (["-p", "rate"], "'-p rate' must have the form '-p name:=value'"),
        (["-p", "rate:="], "must have the form"),
        (["-p", "rate:=[1"], "not valid YAML"),
        (["-p", "rate:={a: 1}"], "it is a mapping; it must be a single value or a list"),
        (["-p", "rate:=[1, 2.5]"], "mixes types"),
        (["-p", "rate:=[[1]]"], "a list may hold only single values"),
        (["-p", "a b:=1"], "parameter name 'a b'"),
        (["-r", "odom"], "'-r odom' must have the form '-r from:=to'"),
        (["-r", "odom:=2d"], "name '2d'"),
        (["-r", "odom:=a//b"], "name 'a//b'"),
        (["-r", "*:=a"], r"name '\*'"),
        (["-r", "__node:=a/b"], "node name 'a/b'"),
        (["-r", "__ns:=robot"], "namespace 'robot' .* '/robot' would be right"),
        (["--log-level", "loud"], "'loud' must be one of debug, info, warn, error, fatal"),
        (["--params-file", "/nowhere/at/all.yaml"], "'/nowhere/at/all.yaml' does not exist"),
        (["--params-file", "/"], "cannot be read"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(given_: list[str], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ros(*given_)


def test_log_level() -> None:
    assert ros().log_level is Severity.INFO
    assert ros("--log-level", "DEBUG").log_level is Severity.DEBUG
    assert ros("--log-level", "rcl:=debug").log_level is Severity.INFO
    assert ros("-r", "__ns:=/a/b", "--log-level", "a.b.sim_node:=warn").log_level is Severity.WARN


# The node's name, and names of topics


def test_name_and_namespace() -> None:
    arguments = ros("-r", "__node:=car", "-r", "__ns:=/fleet/one/", "-r", "__node:=late")
    assert (arguments.name, arguments.namespace, arguments.full_name) == ("car", "/fleet/one", "/fleet/one/car")


def test_rules_for_one_node_only() -> None:
    arguments = ros(
        "-r",
        "other:__node:=no",
        "-r",
        "sim_node:__name:=car",
        "-r",
        "car:__ns:=/a",
        "-r",
        "sim_node:odom:=no",
        "-r",
        "car:odom:=/yes",
    )
    assert arguments.full_name == "/a/car"
    assert arguments.topic("odom") == "/yes"


def test_rules_for_topics_or_services_only() -> None:
    arguments = ros("-r", "rostopic://reset:=t", "-r", "sim_node:rosservice://reset:=s")
    assert arguments.topic("reset") == "/t"
    assert arguments.service("reset") == "/s"


def test_the_first_matching_rule_is_applied_once() -> None:
    arguments = ros("-r", "a:=b", "-r", "a:=c", "-r", "b:=d", "-r", "/tf:=tf", "-r", "__ns:=/robot")
    assert arguments.topic("a") == "/robot/b"
    assert arguments.topic("b") == "/robot/d"
    assert arguments.topic("/tf") == "/robot/tf"
    assert arguments.topic("~/reset") == "/robot/sim_node/reset"
    assert arguments.topic("~") == "/robot/sim_node"


@given(names, tokens, namespaces)
def test_expanded_names_are_absolute_and_stay_so(name: str, node: str, namespace: str) -> None:
    full = expand(name, node, namespace)
    assert full.startswith("/")
    assert "//" not in full
    assert not full.endswith("/")
    assert expand(full, node, namespace) == full
    if not name.startswith("/"):
        assert full.startswith(namespace)


@given(names, names, tokens, namespaces)
def test_a_rule_applies_to_every_spelling_of_a_name(old: str, new: str, node: str, namespace: str) -> None:
    rules = [Remap("name", old, new)]
    assert remap(old, node, namespace, rules, "topic") == expand(new, node, namespace)
    assert remap(expand(old, node, namespace), node, namespace, rules, "service") == expand(new, node, namespace)


@given(names, names, names, tokens, namespaces)
def test_a_rule_leaves_other_names_alone(name: str, old: str, new: str, node: str, namespace: str) -> None:
    assume(expand(name, node, namespace) != expand(old, node, namespace))
    rules = [Remap("name", old, new), Remap("name", name, new, node=f"{node}_")]
    assert remap(name, node, namespace, rules, "topic") == expand(name, node, namespace)


@given(st.text(max_size=8))
def test_a_name_expands_or_is_refused(name: str) -> None:
    reason = refusal(lambda: expand(name, "n", "/"))
    assert f"'{name}'" in reason or expand(name, "n", "/").startswith("/")


# Values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("0x10", 16),
        ("9" * 5000, float("inf")),
        ("0x" + "f" * 5000, "0x" + "f" * 5000),
        ("010", 8),
        ("08", 8.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e-3", 0.001),
        ("true", True),
        ("y", True),
        ("Off", False),
        (".inf", math.inf),
        ("-.inf", -math.inf),
        ("inf", math.inf),
        ("99999999999999999999", 1e20),
        ("auto", "auto"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("!!str 1", "1"),
        ("1_000", "1_000"),
        ("1.2.3", "1.2.3"),
        ("''", ""),
        ("[1, 2]", [1, 2]),
        ("[]", []),
        ("[a, 'b c']", ["a", "b c"]),
        ("null", "null"),
        ("~", "~"),
    ],
)
def test_values_mean_what_they_mean_to_ros(text: str, value: object) -> None:
    result = parse_value(text, "-p")
    assert result == value
    assert type(result) is type(value)


def test_not_a_number() -> None:
    assert math.isnan(float(parse_value(".nan", "-p")))  # type: ignore[arg-type]


@given(st.floats(allow_nan=False))
def test_every_number_is_read_as_it_was_written(value: float) -> None:
    assert parse_value(repr(value), "-p") == value


@given(st.text(max_size=20))
def test_any_text_is_a_value_or_refused(text: str) -> None:
    reason = refusal(lambda: parse_value(text, "-p"))
    assert reason.startswith("-p") or isinstance(parse_value(text, "-p"), bool | int | float | str | list)


# Parameters


def test_overrides_keep_their_order_and_origin(write) -> None:
    path = write("/**:\n  ros__parameters:\n    rate: 10.0\n    model:\n      axle: {base: 2, name: x}\n")
    arguments = ros("-p", "rate:=1.0", "--params-file", path, "-p", "model.axle.base:=3")
    assert [(o.name, o.value, o.origin) for o in arguments.overrides] == [
        ("rate", 1.0, "-p"),
        ("rate", 10.0, f"file {path}, line 3"),
        ("model.axle.base", 2, f"file {path}, line 5"),
        ("model.axle.name", "x", f"file {path}, line 5"),
        ("model.axle.base", 3, "-p"),
    ]


def test_parameters_for_one_node_only() -> None:
    assert values(ros("-p", "sim_node:a:=1", "-p", "other:b:=2", "-p", "c:=a:b")) == {"a": 1, "c": "a:b"}


@pytest.mark.parametrize(
    ("root", "namespace", "fits"),
    [
        ("/**", "/", True),
        ("/**", "/a/b", True),
        ("sim_node", "/", True),
        ("/sim_node", "/", True),
        ("sim_node", "/a", False),
        ("/a/sim_node", "/a", True),
        ("a/sim_node", "/a", True),
        ("/*/sim_node", "/a", True),
        ("/*/sim_node", "/a/b", False),
        ("/**/sim_node", "/a/b", True),
        ("/*", "/", True),
        ("/*", "/a", False),
        ("/a/*", "/a", True),
        ("other", "/", False),
    ],
)
def test_sections(write, root: str, namespace: str, fits: bool) -> None:
    path = write(f"{root}:\n  ros__parameters:\n    a: 1\n")
    if fits:
        assert values(ros("-r", f"__ns:={namespace}", "--params-file", path)) == {"a": 1}
    else:
        with pytest.raises(ArgumentError, match=r"no section for node .* the file has '.*'; '.*/sim_node:' or"):
            ros("-r", f"__ns:={namespace}", "--params-file", path)


def test_the_node_by_name_overrides_wildcards(write) -> None:
    path = write(
        "/a:\n  sim_node:\n    ros__parameters: {rate: 3}\n  other:\n    ros__parameters: {rate: 4}\n"
        "/**:\n  ros__parameters: {rate: 1, b: 2}\n"
    )
    assert values(ros("-r", "__ns:=/a", "--params-file", path)) == {"rate": 3, "b": 2}


def test_an_empty_section_is_accepted(write) -> None:
    assert ros("--params-file", write("sim_node:\n  ros__parameters: {}\n")).overrides == ()
    assert ros("--params-file", write("sim_node:\n  ros__parameters:\n")).overrides == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("# only a comment\n", "it is empty"),
        ("sim_node:\n  ros__parameters:\n    a: [1, 2\n", r"line \d: not valid YAML"),
        ("sim_node:\n  ros__parameters:\n    a: 'x\n", r"not valid YAML"),
        ("sim_node:\n\tros__parameters:\n", r"line 2: not valid YAML"),
        ("- a\n", "the file must hold '/sim_node:'"),
        ("a: 1\n", "line 1: 'a' has a value where a node's name is expected"),
        ("ros__parameters:\n  a: 1\n", "must stand under the name of a node"),
        ("sim_node:\n  ros__parameters: 5\n", "line 2: 'ros__parameters' must hold 'name: value' pairs"),
        ("sim_node:\n  ros__parameters:\n    a:\n", "parameter 'a', .*line 3: it has no value"),
        ("sim_node:\n  ros__parameters:\n    a: [1, x]\n", "parameter 'a', .*line 3: .* mixes types"),
        ("other:\n  x:\n    ros__parameters: {a: 1}\n", "the file has '/other/x'; '/sim_node:' or"),
        ("sim_node: {}\n", "the file has no 'ros__parameters' at all"),
        ("sim_node: &a\n  ros__parameters: {b: 1}\n  c: *a\n", "aliases"),
        ("sim_node: {ros__parameters: " + "{a: " * 5000 + "1" + "}" * 5000 + "}\n", "nested more than 50 deep"),
    ],
)
def test_wrong_files_say_what_is_wrong_and_where(write, text: str, message: str) -> None:
    path = write(text)
    with pytest.raises(ArgumentError, match=message) as caught:
        ros("--params-file", path)
    assert path in str(caught.value)


@given(st.binary(max_size=60))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(b"sim_node:\n  ros__parameters: " + content)
    reason = refusal(lambda: ros("--params-file", str(path)))
    assert str(path) in reason or not reason
