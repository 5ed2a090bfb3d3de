"""What is counted while coinche runs: numbers only, no names, no ids, no cards.

Where several processes serve, each writes its numbers into the folder that PROMETHEUS_MULTIPROC_DIR names, and each tells
the sum of all.
"""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"

connections = Gauge("coinche_connections", "Open WebSockets", multiprocess_mode="livesum")
rooms = Gauge("coinche_rooms", "Tables that somebody follows, summed over the processes", multiprocess_mode="livesum")
appends = Counter("coinche_appends", "Entries offered to the log, by what became of them", ["result"])
append_seconds = Histogram(
    "coinche_append_seconds",
    "From offering an entry to its answer",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0),
)
duties = Counter("coinche_duties", "What the house has done unasked")
refusals = Counter("coinche_refusals", "Questions that were answered with no, by reason", ["why"])
closes = Counter("coinche_closes", "WebSockets that the server closed, by code", ["code"])
archived = Counter("coinche_archived_games", "Finished games that reached Postgres")
hook_deliveries = Counter("coinche_hook_deliveries", "Attempts at deliveries to hooks, by their outcome", ["outcome"])
lost_ends = Counter("coinche_lost_ends", "Logs that came back without their end")

longest_collection = Gauge(
    "coinche_longest_collection_seconds", "The longest stop of a process for collecting garbage", multiprocess_mode="livemax"
)

frozen_objects = Gauge(
    "coinche_frozen_objects", "What the processes are made of, which no collection looks at", multiprocess_mode="livesum"
)

_build = Gauge("coinche_build_info", "Versions", ["version", "python"], multiprocess_mode="max")


def say_what_runs() -> None:
    """Put the versions among the numbers."""
    _build.labels(version("coinche"), platform.python_version()).set(1)


class _Given(Collector):
    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        return self._families


def gauge(name: str, help: str, label: str, values: dict[str, int]) -> Metric:
    """Numbers that are asked for at this moment, by one label."""
    family = GaugeMetricFamily(name, help, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


def info(name: str, help: str, labels: dict[str, str]) -> Metric:
    """Words, as the labels of a 1."""
    family = GaugeMetricFamily(name, help, labels=list(labels))
    family.add_metric(list(labels.values()), 1)
    return family


def page(given: Sequence[Metric]) -> bytes:
    """All numbers in the text form of Prometheus, these among them."""
    registry = REGISTRY
    if FOLDER in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    now = CollectorRegistry()
    now.register(_Given(given))
    return generate_latest(registry) + generate_latest(now)
