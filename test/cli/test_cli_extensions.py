"""What another package adds to vds-gz: subcommands, things to identify, kinds of profiles."""

import re
import sys

import pytest

from vds_gz.cli import main
from vds_gz.core.errors import ArgumentError

CODE = '''
from vds_gz.cli.cli_extensions import Identification, ProfileKind
from vds_gz.core.ros.program_shell import DONE, CommandLine, command
from vds_gz.programs.commandlog.command_log import CommandLog
from vds_gz.programs.interface.commands import Velocity


@command("vds-gz horn")
def horn(argv):
    """Sound the horn."""
    CommandLine("vds-gz horn").parse_args(argv)
    print("honk")
    return DONE


def creep(parameters, maxima, duration, rate, seed):
    slow = Velocity(maxima["crawl"] or 0.1, 0.0, 0.0)
    return CommandLog("twist", (0.0, duration), (slow, Velocity(0.0, 0.0, 0.0))), f"{slow.v_x:g} m/s"


CREEP = ProfileKind(creep, "slowly straight on", duration=7.0, options={"--crawl": "speed [m/s]"})
HORN = Identification(lambda log, recording, given, folder, fit: print(f"{log}: {len(recording.commanded)}"), "a horn")
'''


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with these entry points, as pip does."""

    def with_entry_points(text):
        (tmp_path / "loud.py").write_text(CODE)
        info = tmp_path / "loud-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.chdir(tmp_path)

    yield with_entry_points
    sys.modules.pop("loud", None)


def test_a_subcommand_runs_and_is_listed(install, capsys):
    install("[vds_gz.subcommands]\nhorn = loud:horn\n")
    assert main(["horn"]) == 0
    assert capsys.readouterr().out == "honk\n"
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "  horn        sound the horn\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entry_point", "words", "said"),
    [
        (
            "[vds_gz.subcommands]\nrun = loud:horn",
            ["horn"],
            "'run' of vds_gz.subcommands: there is a command of this name",
        ),
        (
            "[vds_gz.subcommands]\nhorn = loud:CREEP",
            ["horn"],
            "'horn' of vds_gz.subcommands is .*; it must be a function",
        ),
        (
            "[vds_gz.profiles]\nsteps = loud:CREEP",
            ["profile", "steps"],
            "'steps' of vds_gz.profiles: there is a 'steps'",
        ),
        ("[vds_gz.profiles]\ncreep = loud:HORN", ["profile", "creep"], "it must be a ProfileKind"),
        ("[vds_gz.identifications]\naxes = loud:HORN", ["identify", "a"], "there is a 'axes' already"),
    ],
)
def test_a_wrong_entry_point_is_one_message(install, capsys, entry_point, words, said):
    install(entry_point + "\n")
    assert main(words) == 2
    error = capsys.readouterr().err
    assert re.search(said, error)
    assert error.count("\n") == 1


def test_a_kind_of_profile_has_its_options_and_duration(install, capsys, tmp_path):
    install("[vds_gz.profiles]\ncreep = loud:CREEP\n")
    assert main(["profile", "creep", "--crawl", "0.3"]) == 0
    assert capsys.readouterr().out == "creep.csv: 2 commands, 7.0 s, up to 0.3 m/s\n"
    assert (tmp_path / "creep.csv").read_text() == "time,v_x,v_y,yaw_rate\n0.0,0.3,0.0,0.0\n7.0,0.0,0.0,0.0\n"


def test_something_else_is_identified_from_a_log(install, capsys, tmp_path):
    pytest.importorskip("scipy")
    install("[vds_gz.identifications]\nhorn = loud:HORN\n")
    (tmp_path / "log.csv").write_text("time,accel,brake,v_x\n0,0,0,0\n1,0.5,0,0.1\n2,0.5,0,0.2\n")
    assert main(["identify", "log.csv", "--model", "horn", "-o", "out"]) == 0
    assert capsys.readouterr().out == "log.csv: 2\n"
    assert main(["identify", "log.csv", "--model", "horn", "--fit", "pitch"]) == 2
    assert "--fit pitch does not go with --model horn" in capsys.readouterr().err


def test_an_export_replaces_none_of_the_same_name(install):
    exports = pytest.importorskip("vds_gz.tools.study.identify.exports").exports
    install("[vds_gz.exports]\nnav2 = loud:creep\n")
    with pytest.raises(ArgumentError, match=r"'nav2' of vds_gz\.exports: there is a 'nav2' already"):
        exports()
