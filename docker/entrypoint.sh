#!/usr/bin/env bash
# Run a command with the workspace sourced. ROS's own setup file reads variables that may be unset.
set -e
source /workspace/install/setup.bash
exec "$@"
