"""`vds-gz profile optimal`: its table, its file, and what it refuses."""

import re

import pytest
from helpers.guest import needs_autoware

from vds_gz.cli.profile import main
from vds_gz.core.configuration import preset_file
from vds_gz.programs.commandlog.command_log import read
from vds_gz.tools.study.identify import design as search


@pytest.fixture
def _few(monkeypatch):
    for name, count in {"DRAWN": 60, "REFINEMENTS": 20}.items():
        monkeypatch.setattr(search, name, count)


@pytest.mark.usefixtures("_few")
def test_the_log_is_written_and_the_intervals_to_expect_are_printed(tmp_path, capsys):
    output = tmp_path / "optimal.csv"
    assert main(["optimal", "--preset", "indoor_robot", "--duration", "6", "-o", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "expected from 6 s, measured at 50 Hz with noise of v_x 0.0" in printed
    assert re.search(r"^drive_actuators\.dead_time +0\.\d+ +\+-\d.*\(\d+\.\d\d%\) +\+-", printed, re.MULTILINE)
    assert re.search(r"^largest due to noise: \d+\.\d\d%, with `steps` \d+\.\d\d% ", printed, re.MULTILINE)
    assert f"{output}: 301 commands, 6.0 s, up to" in printed
    assert read(output).duration == pytest.approx(6.0)


@pytest.mark.usefixtures("_few")
def test_intervals_of_the_file_and_measured_quantities_count(tmp_path, capsys):
    """A robot whose maximum speed is uncertain, and that has no IMU."""
    text = preset_file("indoor_robot").read_text(encoding="utf-8")
    prior = tmp_path / "prior.yaml"
    prior.write_text(re.sub(r"(max_velocity: )(\S+).*", r"\1\2  # 95 % if the model holds: 0.1 to 0.8", text))
    logs = []
    for number, file in enumerate((prior, preset_file("indoor_robot"))):
        logs.append(tmp_path / f"{number}.csv")
        arguments = ["optimal", "--params", str(file), "--duration", "6", "--noise", "v_x=0.03", "-o", str(logs[-1])]
        assert main(arguments) == 0
        assert "with noise of v_x 0.03 m/s:" in capsys.readouterr().out
    assert logs[0].read_text() != logs[1].read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["optimal"], "optimal is for a vehicle; give what is known of it by --params FILE or --preset NAME"),
        (["steps", "--noise", "0.1"], "--noise is for optimal logs; leave it out for steps"),
        pytest.param(
            ["pedals", "--acceleration", "1"],
            "--acceleration is for optimal logs; leave it out for pedals",
            marks=needs_autoware,
        ),
        (["optimal", "--preset", "indoor_robot", "--duration", "1"], "duration is 1; an optimal log must be 5"),
        (["optimal", "--preset", "indoor_robot", "--noise", "-1"], "noise of every sensor is -1; it must be"),
        (["optimal", "--preset", "indoor_robot", "--noise", "0"], "noise of every sensor is 0; it must be"),
        (["optimal", "--preset", "indoor_robot", "--noise", "imu=0.1"], "noise of 'imu': .* v_x, v_y, yaw_rate"),
    ],
)
def test_wrong_use_is_one_message(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


def test_a_noise_that_is_not_a_number_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["optimal", "--preset", "indoor_robot", "--noise", "much"])
    assert ended.value.code == 2
    assert "'much' must be a number, such as 0.02, or deviations of quantities" in capsys.readouterr().err
