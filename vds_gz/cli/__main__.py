"""``python -m vds_gz.cli``, the same as ``vds-gz``."""

import sys

from vds_gz.cli import main

sys.exit(main())
