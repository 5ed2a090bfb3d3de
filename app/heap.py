"""How long does the garbage collector stop a process? It need not look at what the program itself is made of."""

import gc
import time

from app import metrics


def freeze() -> None:
    """Take all that stands now, code and settings, out of the collector's sight, and measure its longest stop from now on.

    To be called once, when a process has started: a full collection then costs what the tables hold, and not what was imported.
    """
    gc.collect()
    gc.freeze()
    metrics.frozen_objects.set(gc.get_freeze_count())
    began = longest = 0.0

    def note(phase: str, info: dict[str, int]) -> None:
        nonlocal began, longest
        now = time.perf_counter()
        if phase == "start":
            began = now
        elif now - began > longest:
            longest = now - began
            metrics.longest_collection.set(longest)

    gc.callbacks.append(note)
