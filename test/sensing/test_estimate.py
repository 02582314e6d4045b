"""What a vehicle knows of itself: reset, it knows the same again."""

from vds_gz.geometry import Pose
from vds_gz.parameters.node import MeasurementNoiseParameters, NodeParameters
from vds_gz.sensing.estimate import StateEstimator


def test_a_run_after_a_reset_is_the_first_run_again_with_drift_and_measurement_noise():
    parameters = NodeParameters(
        simulate_localization=True, measurement_noise=MeasurementNoiseParameters(add_measurement_noise=True)
    )
    estimator = StateEstimator(parameters, measures=True)
    runs = []
    for _ in range(2):
        runs.append([estimator.update(20_000_000 * k, Pose(0.1 * k, 0.0, 0.01 * k), 1.0, 0.2, 0.02) for k in range(5)])
        estimator.reset(Pose())
    assert runs[0] == runs[1]
    assert runs[0][0].speed != 1.0
