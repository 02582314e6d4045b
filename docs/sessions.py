"""The commands that the pages show, and what they print: read from Markdown, for the tests and for ``./dev docs``."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vds_gz.cli import main
from vds_gz.cli.subcommands import subcommands

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(DOCS.rglob("*.md"))]

#: Pages whose commands use the files of docs/study, and files that the pages before them made.
STUDY = [
    DOCS / f"{name}.md" for name in ("record", "identify", "identify_many", "compare", "replay", "identify_pedals")
]

#: How a command of this package begins. (What a program says begins with its name and a colon.)
OURS = re.compile(r"(?:\./dev|vds-gz|ros2 (?:run|launch)(?: --[\w-]+)* vds_gz)(?: (?!\S+:\s)|$)")

#: How long it took, at the end of a line.
TOOK = re.compile(r" in [\d.]+ s \(.*\)$")

#: A number in an output.
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

_SHARE = "$(ros2 pkg prefix --share vds_gz)"
_ENDS = frozenset(("&", "|", ">", "<", "&&", ";"))


@dataclass(frozen=True, slots=True)
class Shown:
    """A command as a page shows it.

    Attributes:
        line: The number of its line, from 1.
        text: The command, continued lines joined.
        output: The numbers of the lines that show what it prints.
        prints: Those lines, without indentation.
    """

    line: int
    text: str
    output: range = range(0)
    prints: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """Its arguments as a shell would pass them, up to what is piped, redirected or left to the background."""
        lexer = shlex.shlex(self.text.replace(_SHARE, str(ROOT)), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
        return words[: next((i for i, word in enumerate(words) if word in _ENDS), len(words))]


def blocks(page: str) -> Iterator[tuple[int, list[str]]]:
    """Code blocks, fenced or indented by four: number of the first line, and the lines without their indentation."""
    lines: list[str] = []
    fence: str | None = None
    for number, line in enumerate([*page.splitlines(), "end"], start=1):
        mark = re.match(r"( *)```", line)
        indented = line.startswith("    ") or (bool(lines) and not line.strip())
        if mark or (fence is None and not indented):
            if lines:
                yield number - len(lines), lines
            lines = []
            if mark:
                fence = mark[1] if fence is None else None
        else:
            lines.append(line.removeprefix("    " if fence is None else fence))


def help_of(name: str) -> str:
    """What a command prints for ``--help``, in as many columns as ``COLUMNS`` in the environment says."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main([name, "--help"])
    return printed.getvalue().strip()


def help_page() -> str:
    """The help of all commands as a page."""
    return "\n".join(f"```text\n{help_of(name)}\n```" for name in subcommands())


def shown(page: str) -> Iterator[Shown]:
    """Every command in the code blocks of a page; of those without prompts, ours only.

    Among these are the examples of ``--help``, which stand two columns in, some with a remark three or more columns on.
    """
    for first, lines in blocks(page):
        prompts = any(line.startswith("$ ") for line in lines)
        at = 0
        while at < len(lines):
            begin, text = at, lines[at] if prompts else lines[at].removeprefix("  ").partition("   ")[0]
            at += 1
            if not (text.startswith("$ ") if prompts else OURS.match(text)):
                continue
            while text.endswith("\\"):
                text = text[:-1] + lines[at].strip()
                at += 1
            output = at
            while prompts and at < len(lines) and not lines[at].startswith("$ "):
                at += 1
            end = at
            while end > output and not lines[end - 1].strip():
                end -= 1
            printed = range(first + output, first + end)
            yield Shown(first + begin, text.removeprefix("$ "), printed, tuple(lines[output:end]))


def inline(page: str) -> Iterator[Shown]:
    """Every command of ours in running text; PRESET stands for any."""
    lines = page.splitlines()
    for first, block in blocks(page):
        lines[first - 1 : first - 1 + len(block)] = [""] * len(block)
    text = "\n".join("" if line.lstrip().startswith("```") else line for line in lines)
    for found in re.finditer(r"`([^`]+)`", text):
        command = " ".join(found[1].split())
        if OURS.match(command) and "..." not in command:
            yield Shown(text.count("\n", 0, found.start()) + 1, command.replace("PRESET", "ackermann_car"))


def repeatable(page: str) -> list[Shown]:
    """The commands of a page that print the same anywhere, but for the time it took and the last digits."""
    return [
        command
        for command in shown(page)
        if command.prints
        and re.match(r"z?cat|vds-gz (check|profile|replay|identify|compare|sweep) (?!.*(live|gazebo):)", command.text)
    ]


def alone(page: str) -> list[Shown]:
    """The commands of a page that need nothing before them, no graph and no terminal, and are done in a moment."""
    quick = r"(?:vds-gz|\./dev) (?:(?:check|world|model|profile) (?!optimal|--model)|parameters$|keys <|\w+ --help)"
    return [
        command
        for command in (*shown(page), *inline(page))
        if re.match(quick, command.text) and "FILE" not in command.words
    ]


def printed(command: Shown) -> list[str]:
    """Run ``vds-gz``, ``cat`` or ``zcat`` here and return what it prints."""
    if command.words[0] in ("cat", "zcat"):  # and what that is piped into
        done = subprocess.run(command.text, shell=True, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()
    return ran(command.words)[1]


def ran(words: Sequence[str]) -> tuple[int, list[str]]:
    """Run ``vds-gz`` here and return its exit code and what it prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            code = main(words[1:])
        except SystemExit as ended:  # as after --help
            code = int(ended.code or 0)
    return code, text.getvalue().splitlines()


def replaced(page: str, outputs: Mapping[str, Sequence[str]]) -> str:
    """A page in which these commands print these lines. Times stay; in a shortened output only numbers change."""
    lines = page.splitlines()
    for command in reversed(list(shown(page))):
        if command.text in outputs:
            before = {TOOK.sub("", line): line for line in command.prints}
            fresh = [before.get(TOOK.sub("", line), line) for line in outputs[command.text]]
            if "..." in command.prints:
                fresh = shortened(command.prints, fresh)
            lines[command.output.start - 1 : command.output.stop - 1] = [f"    {line}".rstrip() for line in fresh]
    return "\n".join(lines) + "\n"


def shortened(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The shown lines with the numbers of the printed ones.

    A line stays if its words are printed a different number of times.
    """
    there, here = defaultdict(list), defaultdict(list)
    for lines, by_words in ((printed, there), (shown, here)):
        for line in lines:
            by_words[words_of(line)].append(line)
    fresh = {words: iter(there[words] if len(there[words]) == len(here[words]) else here[words]) for words in here}
    return [next(fresh[words_of(line)]) for line in shown]


def words_of(line: str) -> str:
    """A line of an output without its numbers and columns."""
    return " ".join(NUMBER.sub("#", line).split())


def remade(pages: Sequence[Path], files: Path, pictures: Mapping[str, str]) -> None:
    """Update what pages show of their commands: outputs and pictures.

    Args:
        pages: The pages. Their commands run one after the other in one folder.
        files: Folder of what the commands read.
        pictures: What the commands write, and the picture that it becomes.
    """
    texts, before = {page: page.read_text(encoding="utf-8") for page in pages}, Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(files, folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            outputs = {
                page: {command.text: printed(command) for command in repeatable(text)} for page, text in texts.items()
            }
            for made, picture in pictures.items():
                shutil.copy(made, DOCS / "pictures" / picture)
        finally:
            os.chdir(before)
    for page, text in texts.items():
        page.write_text(replaced(text, outputs[page]), encoding="utf-8")
