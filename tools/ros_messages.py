"""Build the message packages that an environment of ROS 2 lacks: ``python tools/ros_messages.py``.

``pip install ros-jazzy-...`` brings ROS's common messages, and no wheel of the others that vds_gz uses. Their
definitions in ``vds_gz`` are built with CMake and ROS's own generators, for Python and Fast DDS
only, and installed into the environment of the Python that runs this. Other folders of packages can be given.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CODE = Path(__file__).resolve().parents[1] / "vds_gz"
DEFINITIONS = [CODE / "core" / "ros" / "messages" / "msg", CODE / "autoware" / "msg"]

#: C++ would take as long as all the rest, and neither Python nor Fast DDS needs it. The wheels' targets name folders of
#: the machine that built them, which CMake refuses.
CMAKE = """
cmake_minimum_required(VERSION 3.21)
project({package} C CXX)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
foreach(package {dependencies})
  find_package(${{package}} REQUIRED)
endforeach()
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "cpp")
rosidl_generate_interfaces({package} {files} DEPENDENCIES {dependencies})
ament_package()
get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${{targets}})
  get_target_property(folders ${{target}} INTERFACE_INCLUDE_DIRECTORIES)
  set(found "")
  foreach(folder ${{folders}})
    if(folder MATCHES "[$]<" OR EXISTS "${{folder}}")
      list(APPEND found "${{folder}}")
    endif()
  endforeach()
  set_target_properties(${{target}} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${{found}}")
endforeach()
"""

PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>{package}</name>
  <version>0.0.0</version>
  <description>Messages that vds_gz uses</description>
  <maintainer email="nobody@example.com">vds_gz developers</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
{dependencies}
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""


def main(arguments: Sequence[str]) -> int:
    """Build all packages that are missing; return the exit code."""
    folders = [*DEFINITIONS, *(Path(argument).resolve() for argument in arguments)]
    prefix = Path(sys.prefix)
    packages = {path.name: path for folder in folders for path in sorted(folder.iterdir()) if path.is_dir()}
    missing = [path for name, path in packages.items() if not (prefix / "share" / name).is_dir()]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(pool.map(lambda path: build(path, Path(work) / path.name, prefix), missing))
    for path, fault in zip(missing, faults, strict=True):
        print(f"{path.name}: {fault or 'built'}", file=sys.stderr if fault else sys.stdout)
    return int(any(faults))


def build(package: Path, work: Path, prefix: Path) -> str:
    """Build and install a package; return the output of the step that failed, else nothing."""
    files = sorted(path.relative_to(package).as_posix() for path in package.glob("*/*.*"))
    # "geometry_msgs/Pose pose" is a field of another package's type, "Pose pose" of the package's own.
    used = {
        name for file in files for name in re.findall(r"^(\w+)/", (package / file).read_text("utf-8"), re.MULTILINE)
    }
    used |= {"action_msgs"} if any(file.endswith(".action") for file in files) else set()
    dependencies = sorted(used - {package.name})
    work.mkdir()
    for file in files:
        (work / file).parent.mkdir(exist_ok=True)
        (work / file).symlink_to(package / file)
    listed = {"package": package.name, "files": " ".join(files), "dependencies": " ".join(dependencies)}
    (work / "CMakeLists.txt").write_text(CMAKE.format(**listed), "utf-8")
    listed["dependencies"] = "\n".join(f"  <depend>{name}</depend>" for name in dependencies)
    (work / "package.xml").write_text(PACKAGE.format(**listed), "utf-8")
    environment = {**os.environ, "AMENT_PREFIX_PATH": str(prefix), "CMAKE_PREFIX_PATH": str(prefix)}
    configuration = ("-S", work, "-B", work / "build", "-G", "Ninja", f"-DCMAKE_INSTALL_PREFIX={prefix}")
    python = (f"-DPython3_EXECUTABLE={sys.executable}", "-DBUILD_TESTING=OFF", "-Wno-dev")
    for step in (
        ("cmake", *configuration, *python),
        ("cmake", "--build", work / "build", "--target", "install", "-j1"),
    ):
        done = subprocess.run(step, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stdout + done.stderr
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
