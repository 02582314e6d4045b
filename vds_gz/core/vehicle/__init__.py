"""The vehicle itself: actuators, models and their fixed-step advance. No ROS, no clock, no files, no threads.

The arithmetic of one step is written once, in functions over plain attributes of a coefficients object ``c``, a state
object ``s`` and a command ``u``. The same source runs interpreted, compiled (:mod:`vds_gz.core.vehicle.compiled`), and
compiled over many vehicles at once (:mod:`vds_gz.tools.fleet`), so these functions use floats, booleans, ``math`` and
each other, and nothing else.
"""
