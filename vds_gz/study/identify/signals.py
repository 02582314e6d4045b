"""The contents of recordings, by the names under which identification imports them; see :mod:`vds_gz.study.signals`."""

from vds_gz.study.signals import ACTUATIONS as ACTUATIONS
from vds_gz.study.signals import COMMANDED as COMMANDED
from vds_gz.study.signals import GAP_INTERVALS as GAP_INTERVALS
from vds_gz.study.signals import LIMITS as LIMITS
from vds_gz.study.signals import LONGEST_GAP as LONGEST_GAP
from vds_gz.study.signals import POSES as POSES
from vds_gz.study.signals import QUANTITIES as QUANTITIES
from vds_gz.study.signals import UNITS as UNITS
from vds_gz.study.signals import Commands as Commands
from vds_gz.study.signals import MeasuredChannel as MeasuredChannel
from vds_gz.study.signals import Series as Series
from vds_gz.study.signals import SignalError as SignalError
from vds_gz.study.signals import Signals as Signals
from vds_gz.study.signals import commands_of as commands_of
from vds_gz.study.signals import pieces as pieces
