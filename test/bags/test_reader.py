"""Bags of every format are opened, filtered and closed alike; errors name the bag."""

import sqlite3

import pytest
from helpers.bag_files import BY_ROSBAGS, write_bag

from vds_gz.bags.reader import BagError, open_bag
from vds_gz.interface import topics
from vds_gz.ros.messages.factory import open_types

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


@by_rosbags
def test_a_bag_is_closed_at_the_end(tmp_path):
    with open_bag(write(tmp_path / "bag", "sqlite3")) as bag:
        pass
    with pytest.raises(Exception, match="not open"):
        list(bag.messages(bag.counts))
