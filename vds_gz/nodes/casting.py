"""How the node casts rays: by numpy at once, by compiled loops where there is much to cast and once they are ready."""

from __future__ import annotations

import threading

from vds_gz.world.scene import Scene

#: Up to so many rays times shapes a second numpy costs a core 2 % at most, and numba's 100 MB are saved.
LITTLE = 1e6


class Casting:
    """One scene, and the better way to cast rays in it so far. Both ways give the same bits.

    Attributes:
        scene: What to cast at now.
        ready: The fastest program is ready; until then ray casting is slow.
    """

    def __init__(self, scene: Scene, rays_per_second: float, *, wait: bool) -> None:
        """Begin.

        Args:
            scene: What surrounds the vehicle.
            rays_per_second: How many rays all sensors cast.
            wait: Compile now and not beside the running node, because no measurement may be left out.
        """
        self.scene = scene.vectorised()
        self.ready = not scene.visuals.compiled or rays_per_second * scene.visuals.shapes <= LITTLE
        if self.ready:
            return
        if wait:
            self._prepare(scene)
        else:
            threading.Thread(target=self._prepare, args=(scene,), name="compile ray casting", daemon=True).start()

    def _prepare(self, scene: Scene) -> None:
        scene.prepare()
        self.scene = scene
        self.ready = True
