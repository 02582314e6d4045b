"""What shells complete with the script that ``vds-gz completion`` prints."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from helpers.guest import HERE

from vds_gz.cli.completion import EPILOG
from vds_gz.cli.subcommands import main, subcommands
from vds_gz.core.configuration import preset_names
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import world_names
from vds_gz.programs.commandlog.command_log import drive_names

#: The last word is completed.
CASES = [
    (["vds-gz", ""], set(subcommands())),
    (["vds-gz", "re"], {"record", "replay"}),
    (["vds-gz", "run", "--no"], {"--no-view"}),
    (["vds-gz", "run", "--preset", ""], set(preset_names())),
    (["vds-gz", "run", "--no-view", "--world", "ha"], {"hall"}),
    (["vds-gz", "drive", ""], set(drive_names())),
    (["vds-gz", "new", "d"], {name for name in (*models(), *preset_names()) if name.startswith("d")}),
    (["vds-gz", "world", ""], set(world_names())),
    (["vds-gz", "identify", "--model", ""], {"axes", *(["pedals", "steering"] if HERE else [])}),
    (["vds-gz", "identify", "ha"], set()),
    (["vds-gz", "check", "ha"], set()),
    (["vds-gz", "check", "--model", ""], set(models())),
    (["vds-gz", "check", "--sensor", ""], set(SensorTypes())),
]


def script(shell: str, capsys: pytest.CaptureFixture[str], path) -> str:
    assert main(["completion", shell]) == 0
    path.write_text(capsys.readouterr().out)
    return str(path)


def completed(*command: str, folder) -> set[str]:
    """The words that a shell prints, one a line, in a folder without files."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=empty)
    assert done.stderr == ""
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_bash_and_zsh(shell, capsys, tmp_path):
    """The function is called as zsh's emulation of bash does, which itself drops words that begin otherwise."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    source = script(shell, capsys, tmp_path / "script")
    calls = "; ".join(
        f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _vds_gz; "
        'printf "%s " "${COMPREPLY[@]}"; echo'
        for words, _ in CASES
    )
    prepare = "autoload -U compinit && compinit -D; setopt ksh_arrays; " if shell == "zsh" else ""
    done = subprocess.run(
        [shell, "-c", f"{prepare}source {source}; {calls}"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for (words, expected), line in zip(CASES, done.stdout.splitlines(), strict=True):
        assert {word for word in line.split() if word.startswith(words[-1])} == expected, words


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish(capsys, tmp_path):
    source = script("fish", capsys, tmp_path / "script")
    for words, expected in CASES:
        line = " ".join(words)
        assert completed("fish", "-c", f"source {source}; complete -C '{line}'", folder=tmp_path) == expected, line


def test_fish_shows_the_values_of_defaults(capsys, tmp_path):
    text = Path(script("fish", capsys, tmp_path / "script")).read_text()
    assert "%(" not in text
    assert " -l format " in text
    assert "-d 'default: sdf'" in text


def test_the_commands_of_the_help_make_their_folders(tmp_path):
    """With a program that prints the name of the shell."""
    home, program = tmp_path / "home", tmp_path / "vds-gz"
    home.mkdir()
    program.write_text('#!/bin/sh\necho "$2"\n')
    program.chmod(0o755)
    environment = {"HOME": str(home), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    commands = "\n".join(line for line in EPILOG.splitlines() if line.startswith("  "))
    subprocess.run(["bash", "-e", "-c", commands], env=environment, check=True)
    assert (home / ".local/share/bash-completion/completions/vds-gz").read_text() == "bash\n"
    assert (home / ".vds-gz.zsh").read_text() == "zsh\n"
    assert (home / ".config/fish/completions/vds-gz.fish").read_text() == "fish\n"


def test_an_unknown_shell_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["completion", "tcsh"])
    assert ended.value.code == 2
    assert "'tcsh'" in capsys.readouterr().err
