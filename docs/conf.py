"""How Sphinx makes the site of these pages: ``./dev docs``, or rosdoc2."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import vds_gz  # noqa: E402

project = "vds_gz"
author = "vds_gz developers"
version = release = vds_gz.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Not viewcode: it takes all objects of a file for those of one module, so its links back to what `vds_gz.modelling`
# shows of the files that `vds_gz` shows too lead nowhere.
exclude_patterns = ["site", "figures", "study", "delay_margin"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]  # pictures with a width are <img> there, for GitHub
napoleon_use_ivar = True

autodoc_typehints = "description"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
# What only ROS or Gazebo bring is not needed to read the interface.
autodoc_mock_imports = ["rclpy"]

html_theme = "furo"
html_title = f"vds_gz {version}"
html_show_copyright = False  # the licence stands in LICENSE
html_static_path = ["static"]
html_css_files = ["tables.css"]
