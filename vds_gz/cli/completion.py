"""``vds-gz completion``: prints a script that completes commands and options in a shell.

The script has all words in it. Completing starts no program, so it takes no time.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping

from vds_gz.cli.subcommands import subcommands
from vds_gz.core.configuration import preset_names
from vds_gz.core.plant.plant_types import PlantTypes
from vds_gz.core.ros.program_shell import DONE, CommandLine, command, parser_of
from vds_gz.core.sensing.sensor_types import SensorTypes
from vds_gz.core.vehicle.catalogue import models
from vds_gz.core.world.load_world import world_names
from vds_gz.programs.commandlog.command_log import drive_names

EPILOG = """
The script completes commands, options and the names of presets, models, sensors, plants, worlds and drives, else files.
Make it again for a new version.

bash (package bash-completion):
  mkdir -p ~/.local/share/bash-completion/completions &&
    vds-gz completion bash > ~/.local/share/bash-completion/completions/vds-gz
zsh, after compinit in ~/.zshrc:
  vds-gz completion zsh > ~/.vds-gz.zsh; echo 'source ~/.vds-gz.zsh' >> ~/.zshrc
fish:
  mkdir -p ~/.config/fish/completions && vds-gz completion fish > ~/.config/fish/completions/vds-gz.fish
"""

BASH = """# Completion of vds-gz, made by `vds-gz completion`.
_vds_gz() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD - 1]}}" words=""
    if [[ $COMP_CWORD == 1 ]]; then
        words={commands}
    elif [[ $current == -* ]]; then
        case "${{COMP_WORDS[1]}}" in
{options}
        esac
    else
        case "${{COMP_WORDS[1]}} $previous" in
{values}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _vds_gz vds-gz
"""

ZSH = "autoload -U +X bashcompinit && bashcompinit\n"

#: Names that arguments take besides files, by the argument's name, or by that of the command and the argument.
NAMES: Mapping[str, tuple[Callable[[], Iterable[str]], ...]] = {
    "preset": (preset_names,),
    "vehicle": (preset_names,),
    "new vehicle": (models, preset_names),
    "world": (world_names,),
    "log": (drive_names,),
    "identify log": (),
    "check model": (models,),
    "check sensor": (SensorTypes,),
    "check plant": (PlantTypes,),
}

#: Parsers by the names of their commands.
Parsers = Mapping[str, CommandLine]


@command("vds-gz completion")
def main(argv: list[str]) -> int:
    """Print the script of a shell."""
    parser = CommandLine(
        "vds-gz completion", description="\nPrint a script by which a shell completes vds-gz.\n", epilog=EPILOG
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    shell = parser.parse_args(argv).shell
    parsers = {name: parser_of(subcommand.load()) for name, subcommand in subcommands().items()}
    print(fish(parsers) if shell == "fish" else (ZSH if shell == "zsh" else "") + bash(parsers), end="")
    return DONE


def bash(parsers: Parsers) -> str:
    """The script for bash, and for zsh's emulation of bash."""
    options, values = [], []
    for name, parser in parsers.items():
        flags = (flag for action in parser.arguments for flag in action.option_strings)
        options.append(f"        {name}) words={shlex.quote(' '.join(flags))} ;;")
        previous: dict[str, list[str]] = {}  # what may be before the cursor, by the words that fit there
        positional: list[str] = []
        for action in parser.arguments:
            words = _words(name, action)
            if not action.option_strings:
                positional += words
            elif action.nargs != 0:
                previous.setdefault(" ".join(words), []).extend(f'"{name} {flag}"' for flag in action.option_strings)
        cases = [*previous.items(), (" ".join(positional), [f'"{name} "*'])]
        values += [f"        {'|'.join(patterns)}) words={shlex.quote(words)} ;;" for words, patterns in cases]
    return BASH.format(commands=shlex.quote(" ".join(parsers)), options="\n".join(options), values="\n".join(values))


def fish(parsers: Parsers) -> str:
    """The script for fish."""
    return "\n".join(["# Completion of vds-gz, made by `vds-gz completion`.", *_fish_lines(parsers)]) + "\n"


def _fish_lines(parsers: Parsers) -> Iterator[str]:
    for name, subcommand in subcommands().items():
        yield f"complete -c vds-gz -n __fish_use_subcommand -f -a {name} -d {shlex.quote(subcommand.description)}"
    for name, parser in parsers.items():
        seen = f"complete -c vds-gz -n '__fish_seen_subcommand_from {name}'"
        for action in parser.arguments:
            known = shlex.quote(" ".join(_words(name, action)))
            words = f" -a {known}" if known != "''" else ""
            flags = "".join(
                f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in action.option_strings
            )
            value = " -r" if flags and action.nargs != 0 else ""
            if flags or words:
                help_text = _expanded(action).partition(";")[0] if flags else ""
                yield f"{seen}{flags}{value}{words}" + (f" -d {shlex.quote(help_text)}" if help_text else "")


def _expanded(action: argparse.Action) -> str:
    """The help of an argument, with the default in place of argparse's placeholder."""
    return (action.help or "") % {"default": action.default}


def _words(command_name: str, action: argparse.Action) -> list[str]:
    """The known words for an option's value or a positional argument; none for numbers and names of other kinds."""
    if action.choices is not None:
        return list(map(str, action.choices))
    sources = NAMES.get(f"{command_name} {action.dest}", NAMES.get(action.dest, ()))
    return [word for source in sources for word in source()]
