"""Bags of every format are opened, filtered and closed alike; errors name the bag."""

import os
import shutil
import sqlite3

import pytest
from helpers.bag_files import BY_ROSBAGS, SUFFIXES, write_bag

from vds_gz.core.ros.messages.message_types import definition, open_types
from vds_gz.programs.bags import mcap
from vds_gz.programs.bags.reader import BagError, open_bag
from vds_gz.programs.interface import topics

ODOM = topics.ODOM.type

by_rosbags = pytest.mark.skipif(not BY_ROSBAGS, reason="of the package rosbags")


def write(path, plugin):
    """Write a folder with ten messages on each of two topics."""
    names = "/odom", "/other"
    messages = ((name, k * 10**9, open_types().new(ODOM)) for k in range(10) for name in names)
    write_bag(path, plugin, dict.fromkeys(names, ODOM), messages)
    return path


@pytest.mark.parametrize("plugin", ["mcap", "sqlite3"])
def test_only_wanted_topics_are_read(tmp_path, plugin):
    with open_bag(write(tmp_path / "bag", plugin)) as bag:
        assert bag.counts == {("/odom", ODOM): 10, ("/other", ODOM): 10}
        assert [name for (name, _), _, _ in bag.messages([("/other", ODOM)])] == ["/other"] * 10
        assert list(bag.messages([])) == []
        assert list(bag.messages([("/none", ODOM)])) == []


def test_a_folder_may_be_named_as_a_file(tmp_path):
    with open_bag(write(tmp_path / "bag.mcap", "mcap")) as bag:
        assert bag.counts.total() == 20
        assert not bag.cut_short


def write_mcap(path, times, **options):
    """Write a file with a message at each of these times, by another library."""
    library = pytest.importorskip("mcap.writer")
    data = bytes(open_types().codec(ODOM).encode(open_types().new(ODOM)))
    with path.open("wb") as file:
        writer = library.Writer(file, **options)
        writer.start(profile="ros2")
        schema = writer.register_schema(ODOM, "ros2msg", definition(ODOM).encode())
        channel = writer.register_channel("/odom", "cdr", schema)
        for time in times:
            writer.add_message(channel, time, data, time)
        writer.finish()


def times_of(path):
    with open_bag(path) as bag:
        return [time for _, time, _ in bag.messages(bag.counts)]


def split(tmp_path, plugin="mcap"):
    """A folder with two files whose times overlap; messages are one second apart."""
    folder = write(tmp_path / "bag", plugin)
    (first,) = folder.glob(f"*{SUFFIXES[plugin]}")
    later = ((name, k * 10**9, open_types().new(ODOM)) for k in range(8, 14) for name in ("/odom", "/other"))
    write_bag(tmp_path / "later", plugin, dict.fromkeys(("/odom", "/other"), ODOM), later)
    (second,) = (tmp_path / "later").glob(f"*{SUFFIXES[plugin]}")
    second.rename(folder / f"second{SUFFIXES[plugin]}")
    first.rename(folder / f"first{SUFFIXES[plugin]}")
    (folder / "metadata.yaml").unlink()
    return folder


@pytest.mark.parametrize("plugin", ["mcap", "sqlite3"])
def test_files_of_a_folder_are_merged_by_time(tmp_path, plugin):
    times = times_of(split(tmp_path, plugin))
    assert len(times) == 32
    assert times == sorted(times)


@pytest.mark.parametrize(
    ("metadata", "count"),
    [
        ("", 32),
        ("rosbag2_bagfile_information: {version: 6, storage_identifier: '', relative_file_paths: [first.mcap]}", 20),
        ("rosbag2_bagfile_information: {version: 99, relative_file_paths: [first.mcap, second.mcap]}", 32),
        ("rosbag2_bagfile_information: [", 32),
        ("- no mapping", 32),
    ],
    ids=["empty", "no storage, one file", "later version", "damaged", "another file"],
)
def test_metadata_lists_the_files_of_a_folder_and_says_nothing_else(tmp_path, metadata: str, count: int):
    folder = split(tmp_path)
    (folder / "metadata.yaml").write_text(metadata)
    assert len(times_of(folder)) == count


def test_a_copy_of_a_file_is_left_out_or_refused(tmp_path):
    folder = write(tmp_path / "bag", "mcap")
    shutil.copy(folder / "bag.mcap", folder / "copy.mcap")
    with open_bag(folder) as bag:
        assert bag.findings == [f"'{folder / 'copy.mcap'}' is left out, because metadata.yaml does not list it"]
        assert len(list(bag.messages(bag.counts))) == 20
    (folder / "metadata.yaml").unlink()
    with pytest.raises(BagError, match=r"'bag.mcap' and 'copy.mcap' overlap in time, and no"), open_bag(folder):
        pass


@pytest.mark.parametrize("length", [0, 20], ids=["empty", "without a message"])
def test_a_file_that_was_just_begun_has_no_messages(tmp_path, length: int):
    folder = split(tmp_path)
    last = folder / "third.mcap"
    last.write_bytes((folder / "first.mcap").read_bytes()[:length])
    with open_bag(folder) as bag:
        assert bag.cut_short
        assert [str(last) in finding for finding in bag.findings] == [True]
        assert len(list(bag.messages(bag.counts))) == 32


def test_the_last_file_of_a_folder_may_be_cut_short(tmp_path):
    folder = split(tmp_path)
    last = folder / "second.mcap"
    last.write_bytes(last.read_bytes()[:-20])
    with open_bag(folder) as bag:
        assert bag.cut_short
        assert len(list(bag.messages(bag.counts))) == 32


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (None, "neither a metadata.yaml nor .mcap, .db3 or .bag files"),
        ("rosbag2_bagfile_information: {relative_file_paths: [gone.mcap]}", "names 'gone.mcap', which does not exist"),
    ],
)
def test_a_folder_without_its_files_says_so(tmp_path, metadata: str | None, reason: str):
    if metadata:
        (tmp_path / "metadata.yaml").write_text(metadata)
    with pytest.raises(BagError, match=reason), open_bag(tmp_path):
        pass


def test_a_pipe_is_no_bag(tmp_path):
    os.mkfifo(tmp_path / "a.mcap")
    with pytest.raises(BagError, match="not a regular file"), open_bag(tmp_path / "a.mcap"):
        pass


@pytest.mark.parametrize("chunked", [True, False])
def test_a_time_that_no_clock_has_is_damage(tmp_path, chunked: bool):
    write_mcap(tmp_path / "a.mcap", [1, 2**63], use_chunking=chunked)
    with pytest.raises(BagError, match=f"has the time {2**63} ns"):
        times_of(tmp_path / "a.mcap")


@pytest.mark.parametrize("options", [{}, {"use_chunking": False}, {"use_statistics": False}], ids=str)
def test_an_unsorted_mcap_is_read_in_the_order_of_time(tmp_path, options):
    """Also without chunks, where rosbags refuses it."""
    write_mcap(tmp_path / "a.mcap", [3, 1, 2], **options)
    assert times_of(tmp_path / "a.mcap") == [1, 2, 3]


@pytest.mark.parametrize("chunked", [True, False])
def test_messages_that_are_too_far_from_the_order_of_time_are_refused(tmp_path, monkeypatch, chunked: bool):
    """They would all be in memory."""
    monkeypatch.setattr(mcap, "MOST_HELD", 100_000)
    monkeypatch.setattr(mcap, "_BLOCK", 10_000)
    near = [k ^ 1 for k in range(2, 3000)]
    far = [1 if k % 5 == 0 else k for k in range(2, 3000)]
    for name, times in (("near", near), ("far", far)):
        write_mcap(tmp_path / f"{name}.mcap", times, use_chunking=chunked, chunk_size=10_000)
    assert times_of(tmp_path / "near.mcap") == sorted(near)
    with pytest.raises(BagError, match="more than 100000 bytes of messages are not in the order of time"):
        times_of(tmp_path / "far.mcap")


def test_an_invalid_file_name_is_an_error_of_the_bag(tmp_path):
    with pytest.raises(BagError, match="File name too long"), open_bag(tmp_path / f"{'a' * 300}.mcap"):
        pass


@by_rosbags
def test_a_time_that_is_text_is_damage(tmp_path):
    [file] = write(tmp_path / "bag", "sqlite3").glob("*.db3")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE messages SET timestamp = 'noon' WHERE id = 3")
    with open_bag(tmp_path / "bag") as bag, pytest.raises(BagError, match=r"a message on '/odom' has no time"):
        list(bag.messages(bag.counts))


def write_ros1(path, compression=None, topic="/odom"):
    """Write a bag of ROS 1 with ten messages at each of two publishers of one topic."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store, ours = get_typestore(Stores.ROS1_NOETIC), open_types().new(ODOM)
    ours.header.frame_id, ours.twist.twist.linear.x = "odom", 0.25
    header = store.types["std_msgs/msg/Header"](7, ours.header.stamp, "odom")
    theirs = store.types[ODOM](header, ours.child_frame_id, ours.pose, ours.twist)
    writer = Writer(path)
    if compression:
        writer.set_compression(Writer.CompressionFormat[compression])
    with writer:
        for caller in ("one", "other"):
            connection = writer.add_connection(topic, ODOM, typestore=store, callerid=caller)
            for k in range(10):
                writer.write(connection, k * 10**9, store.serialize_ros1(theirs, ODOM))
    return ours


@by_rosbags
@pytest.mark.parametrize("compression", [None, "BZ2", "LZ4"])
@pytest.mark.parametrize("topic", ["/odom", "odom"])
def test_a_bag_of_ros_1_has_the_messages_of_ros_2(tmp_path, compression: str | None, topic: str):
    message = write_ros1(tmp_path / "a.bag", compression, topic)
    with open_bag(tmp_path / "a.bag") as bag:
        assert bag.counts == {("/odom", ODOM): 20}
        assert bag.span == (0, 9 * 10**9)
        [*read] = bag.messages(bag.counts)
    assert [time for _, time, _ in read] == [k * 10**9 for k in range(10) for _ in range(2)]
    assert {data for _, _, data in read} == {bytes(open_types().codec(ODOM).encode(message))}


@by_rosbags
def test_a_bag_of_ros_1_that_is_cut_short_names_itself(tmp_path):
    write_ros1(tmp_path / "a.bag")
    whole = (tmp_path / "a.bag").read_bytes()
    (tmp_path / "a.bag").write_bytes(whole[:-100])
    with pytest.raises(BagError, match=r"a\.bag' cannot be read"), open_bag(tmp_path / "a.bag"):
        pass


@by_rosbags
def test_a_message_of_ros_1_with_other_fields_is_damage(tmp_path):
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    with Writer(tmp_path / "a.bag") as writer:
        kinds = get_typestore(Stores.ROS1_NOETIC)
        writer.write(writer.add_connection("/odom", ODOM, typestore=kinds), 0, b"short")
    with open_bag(tmp_path / "a.bag") as bag, pytest.raises(BagError, match=f"5 bytes are not a {ODOM} of ROS 1"):
        list(bag.messages(bag.counts))


@by_rosbags
def test_a_bag_is_closed_at_the_end(tmp_path):
    with open_bag(write(tmp_path / "bag", "sqlite3")) as bag:
        pass
    with pytest.raises(Exception, match="not open"):
        list(bag.messages(bag.counts))
