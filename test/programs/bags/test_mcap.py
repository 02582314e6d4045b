"""MCAP files: other readers read what we write, and our own reads incomplete files as far as they go."""

import struct
import sys
import zlib
from contextlib import suppress

import pytest
import yaml
from helpers.bag_files import messages_of, topics_of
from hypothesis import given
from hypothesis import strategies as st

from vds_gz.core.files import LARGEST_CHUNK
from vds_gz.core.ros.graph import QoS
from vds_gz.core.ros.messages.message_types import definition, open_types
from vds_gz.programs.bags import mcap
from vds_gz.programs.bags.mcap import MAGIC, MESSAGE, RECORD, Connection, Opcode
from vds_gz.programs.bags.mcap_writer import McapWriter
from vds_gz.programs.bags.reader import Bag, BagError, open_bag
from vds_gz.programs.bags.recorder import about, qos_profile
from vds_gz.programs.interface import topics

TWIST = topics.TWIST_ACTUAL


def write(path, chunks, *, close=True):
    """Write a file whose chunks have these speeds, one every millisecond."""
    codec, message = open_types().codec(TWIST.type), open_types().new(TWIST.type)
    writer, time = McapWriter(path), 0
    writer.metadata("vds_gz", {"vehicle": "a car"})
    channel = writer.channel("/twist_actual", TWIST.type, definition(TWIST.type), about(TWIST, open_types()))
    for speeds in chunks:
        data, places, begin = b"", b"", time
        for speed in speeds:
            message.twist.linear.x = speed
            content = bytes(codec.encode(message))
            places += struct.pack("<QQ", time, len(data))
            data += MESSAGE.pack(Opcode.MESSAGE, 22 + len(content), channel, 0, time, time) + content
            time += 1_000_000
        writer.chunk(data, begin, time - 1_000_000, {channel: places})
    if close:
        writer.close()
    return path


def contents(path):
    """The bytes of all messages of a file, also of one with a damage."""
    index = mcap.index_of(path)
    return [data for _, _, data in mcap.messages(path, index, index.connections)]


def speeds(path):
    codec = open_types().codec(TWIST.type)
    return [codec.decode(bytearray(data)).twist.linear.x for data in contents(path)]


def append_chunk(path, records, *, size=None, check_sum=0, compression=b""):
    """Append a chunk that says to be of this size [bytes] when it is decompressed."""
    size = len(records) if size is None else size
    head = struct.pack("<QQQI", 0, 0, size, check_sum) + struct.pack("<I", len(compression)) + compression
    body = head + struct.pack("<Q", len(records)) + records
    path.write_bytes(path.read_bytes() + RECORD.pack(Opcode.CHUNK, len(body)) + body)


#: A message without content.
EMPTY = MESSAGE.pack(Opcode.MESSAGE, MESSAGE.size - RECORD.size, 1, 0, 0, 0)

CHUNKS = [[0.1 * (100 * k + i) for i in range(100)] for k in range(4)]
EVERYTHING = [speed for chunk in CHUNKS for speed in chunk]


@pytest.mark.parametrize("reliable", [True, False])
@pytest.mark.parametrize("transient_local", [True, False])
def test_qos_is_written_in_the_format_of_humble(reliable, transient_local):
    metadata = pytest.importorskip("rosbags.rosbag2.metadata")
    text = qos_profile(QoS(7, reliable=reliable, transient_local=transient_local))
    assert yaml.safe_load(text) == yaml.safe_load(metadata.dump_qos_v8(metadata.parse_qos(text)))
    (qos,) = metadata.parse_qos(text)
    assert qos.depth == 7
    assert qos.reliability.name == ("RELIABLE" if reliable else "BEST_EFFORT")
    assert qos.durability.name == ("TRANSIENT_LOCAL" if transient_local else "VOLATILE")


def test_other_readers_read_the_file(tmp_path):
    path = write(tmp_path / "a.mcap", CHUNKS)
    recorded = topics_of(path)["/twist_actual"]
    assert (recorded.type, recorded.count, recorded.reliability) == (TWIST.type, 400, "RELIABLE")
    messages = messages_of(path)
    assert [message.twist.linear.x for _, _, message in messages] == EVERYTHING
    assert [time for _, time, _ in messages] == [1_000_000 * k for k in range(400)]
    assert mcap.index_of(path).whole
    assert speeds(path) == EVERYTHING


def test_every_check_sum_and_index_is_right(tmp_path):
    reader = pytest.importorskip("mcap.reader", reason="checked by the Python package mcap")
    with write(tmp_path / "a.mcap", CHUNKS).open("rb") as file:
        reading = reader.make_reader(file, validate_crcs=True)
        assert len(list(reading.iter_messages(starting_at=50_000_000, ending_before=350_000_000))) == 300
        summary = reading.get_summary()
        assert (summary.statistics.message_count, summary.statistics.chunk_count) == (400, 4)
        assert summary.statistics.message_end_time == 399_000_000
        assert [(record.name, record.metadata) for record in reading.iter_metadata()] == [
            ("vds_gz", {"vehicle": "a car"})
        ]


def test_flushed_chunks_are_readable_before_the_end(tmp_path):
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    assert speeds(path) == EVERYTHING
    with open_bag(path) as bag:
        assert bag.cut_short
        assert bag.counts == {("/twist_actual", TWIST.type): 400}


@given(part=st.floats(0.0, 1.0))
def test_of_a_file_cut_anywhere_complete_chunks_are_read(tmp_path_factory, part):
    folder = tmp_path_factory.mktemp("cut")
    data = write(folder / "a.mcap", CHUNKS).read_bytes()
    cut = folder / "cut.mcap"
    cut.write_bytes(data[: int(part * len(data))])
    result = speeds(cut)
    assert result == EVERYTHING[: len(result)]
    assert len(result) % 100 == 0


@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_changed_byte_never_gives_messages_that_were_not_sent(tmp_path_factory, place, value):
    folder = tmp_path_factory.mktemp("bad")
    data = bytearray(write(folder / "a.mcap", CHUNKS).read_bytes())
    data[place % len(data)] = value
    bad = folder / "bad.mcap"
    bad.write_bytes(data)
    sent = iter(contents(folder / "a.mcap"))
    with suppress(BagError), open_bag(bad) as bag:
        assert all(data in sent for _, _, data in bag.messages(bag.counts))  # in the same order


def test_a_file_without_messages_or_of_another_version_is_refused(tmp_path):
    path = write(tmp_path / "a.mcap", CHUNKS)
    other = path.read_bytes().replace(b"MCAP0", b"MCAP1")
    for content in (b"", b"no bag", MAGIC, MAGIC + b"\x06" + b"\xff" * 40, other):
        path.write_bytes(content)
        with pytest.raises(BagError, match="has no end"), open_bag(path):
            pass


def test_messages_on_an_unknown_channel_are_left_out(tmp_path):
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    message = MESSAGE.pack(Opcode.MESSAGE, MESSAGE.size - RECORD.size, 99, 0, 0, 0)
    path.write_bytes(MAGIC + message + path.read_bytes()[len(MAGIC) :])
    assert speeds(path) == EVERYTHING


@pytest.mark.parametrize(
    ("opcode", "body"), [(Opcode.MESSAGE, b"short"), (Opcode.CHANNEL, struct.pack("<HHI", 2, 99, 0))]
)
def test_reading_ends_at_a_record_that_is_too_short_or_of_an_unknown_type(tmp_path, opcode, body):
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    path.write_bytes(path.read_bytes() + RECORD.pack(opcode, len(body)) + body)
    assert speeds(path) == EVERYTHING


@pytest.mark.parametrize(
    ("size", "compression", "whole"),
    [(LARGEST_CHUNK, b"", True), (LARGEST_CHUNK + 1, b"", False), (100, b"bz2", False)],
)
def test_chunks_that_are_too_large_or_compressed_otherwise_are_damage(tmp_path, monkeypatch, size, compression, whole):
    monkeypatch.setitem(sys.modules, "zstandard", None)  # whether it is installed does not matter
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    append_chunk(path, EMPTY, size=size, compression=compression)
    assert len(contents(path)) == len(EVERYTHING) + whole


def compressed_with(compression: str, data: bytes) -> bytes:
    if compression == "zstd":
        return pytest.importorskip("zstandard").ZstdCompressor().compress(data)
    return pytest.importorskip("lz4.frame").compress(data)


@pytest.mark.parametrize(("missing", "whole"), [(0, True), (1, False)])
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_a_compressed_chunk_that_is_larger_than_it_says_is_damage(tmp_path, missing, whole, compression: str):
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    check_sum, size = 0 if whole else zlib.crc32(EMPTY), len(EMPTY) - missing
    records = compressed_with(compression, EMPTY)
    append_chunk(path, records, size=size, check_sum=check_sum, compression=compression.encode())
    assert len(contents(path)) == len(EVERYTHING) + whole


@pytest.mark.parametrize(
    ("compression", "reason"), [("zstd", "a frame of .* bytes where the chunk has"), ("lz4", "more than the .* bytes")]
)
def test_a_whole_file_is_decompressed_to_the_size_of_its_chunks_only(tmp_path, monkeypatch, compression, reason):
    def larger(data):
        return compressed_with(compression, data + bytes(1 << 20)), compression

    monkeypatch.setattr("vds_gz.programs.bags.mcap_writer._compressed", larger)
    path = write(tmp_path / "a.mcap", CHUNKS)
    with open_bag(path) as bag, pytest.raises(BagError, match=reason):
        list(bag.messages(bag.counts))


def test_a_record_that_is_longer_than_its_chunk_is_damage(tmp_path):
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    append_chunk(path, MESSAGE.pack(Opcode.MESSAGE, MESSAGE.size - RECORD.size + 1, 1, 0, 0, 0))
    assert speeds(path) == EVERYTHING


def test_reading_ends_at_zeros_in_a_chunk(tmp_path):
    """They would be records of type 0 and length 0, millions of them in a small compressed chunk."""
    path = write(tmp_path / "a.mcap", CHUNKS, close=False)
    append_chunk(path, bytes(90))
    path.write_bytes(path.read_bytes() + EMPTY)
    assert len(contents(path)) == len(EVERYTHING)


def test_topics_without_messages_are_listed(tmp_path):
    writer = McapWriter(tmp_path / "a.mcap")
    writer.channel("/odom", topics.ODOM.type, definition(topics.ODOM.type), about(topics.ODOM, open_types()))
    writer.close()
    with open_bag(tmp_path / "a.mcap") as bag:
        assert bag.counts == {Connection("/odom", topics.ODOM.type): 0}
    assert topics_of(tmp_path / "a.mcap")["/odom"].count == 0


def test_without_zstandard_chunks_are_not_compressed(tmp_path, monkeypatch):
    compressed = write(tmp_path / "a.mcap", CHUNKS).stat().st_size
    monkeypatch.setitem(sys.modules, "zstandard", None)  # as if it were not installed
    path = write(tmp_path / "b.mcap", CHUNKS)
    assert speeds(path) == EVERYTHING
    assert [time for _, time, _ in messages_of(path)] == [1_000_000 * k for k in range(400)]
    assert path.stat().st_size > 2 * compressed


@pytest.mark.parametrize("close", [True, False])
def test_without_zstandard_whole_files_are_still_read(tmp_path, monkeypatch, close: bool):
    path = write(tmp_path / "a.mcap", CHUNKS, close=close)
    monkeypatch.setitem(sys.modules, "zstandard", None)  # as if it were not installed
    if close:
        with open_bag(path) as bag:
            assert len(list(bag.messages(bag.counts))) == 400
    else:
        with pytest.raises(ModuleNotFoundError, match="zstandard"), open_bag(path):
            pass


def test_an_error_in_our_own_code_is_not_reported_as_damage(tmp_path):
    class Wrong(Bag):
        def _messages(self, wanted):
            raise KeyError("a name of ours")

    bag = Wrong(tmp_path)
    bag.counts[Connection("/odom", topics.ODOM.type)] = 1
    with pytest.raises(KeyError):
        list(bag.messages(bag.counts))
