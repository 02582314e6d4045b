"""Programs that are signalled at random moments: ``python -m helpers.signals TRIALS SIGNALS MODULE ARGUMENT...``.

Each trial is a fork of this process, which has imported the program already, with its own terminal. In the first
there is one signal when the program runs, and it must end by itself. In the others there are many: some come before it
is ready, and some when it has left and Python ends, which has no handlers then; whatever that makes of it, it must end.
"""

from __future__ import annotations

import os
import pty
import random
import signal
import sys
import time
from importlib import import_module

#: A program that has not ended so long after its last signal hangs [s].
PATIENCE = 30.0

#: The first signal comes up to so long after the start [s].
LATEST = 3.0


def trial(module: str, arguments: list[str], delay: float, signals: int, random_: random.Random) -> int | None:
    """The wait status of the program; None if it hangs."""
    child, terminal = pty.fork()
    if child == 0:
        sys.exit(import_module(module).main(arguments))
    drain(terminal, delay)
    for _ in range(signals):
        os.kill(child, random_.choice((signal.SIGINT, signal.SIGTERM)))
        drain(terminal, random_.expovariate(1.0 / 0.003))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            os.close(terminal)
            return status
        drain(terminal, 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def drain(terminal: int, seconds: float) -> None:
    """Take what the program prints, so that it is never kept waiting."""
    os.set_blocking(terminal, False)
    time.sleep(seconds)
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        return


def main() -> int:
    trials, signals, module, *arguments = sys.argv[1:]
    import_module(module)
    random_ = random.Random(module)
    codes = [trial(module, arguments, LATEST, 1, random_)]
    for _ in range(int(trials)):
        codes.append(trial(module, arguments, random_.uniform(0.0, LATEST), int(signals), random_))
    hangs = codes.count(None)
    print(f"{module}: {trials} stops, {int(trials) * int(signals)} signals, {hangs} hung; wait statuses {codes}")
    return 0 if codes[0] is not None and os.WIFEXITED(codes[0]) and not hangs else 1


if __name__ == "__main__":
    sys.exit(main())
