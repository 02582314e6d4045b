"""Which signals end a program."""

import subprocess
import sys

import pytest

#: Sends itself a signal, and prints whether that is a request to end.
PROGRAM = """
import os, signal
from vds_gz.core.ros.program_shell import on_signals
stop = on_signals()
os.kill(os.getpid(), signal.{signal})
print(stop.requested)
"""


def requested(signal, *before):
    command = [*before, sys.executable, "-c", PROGRAM.format(signal=signal)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_is_a_request_to_end(signal):
    assert requested(signal) == "True"


def test_a_program_under_nohup_outlives_its_terminal():
    assert requested("SIGHUP", "nohup") == "False"
    assert requested("SIGTERM", "nohup") == "True"
