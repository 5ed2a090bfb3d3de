"""What the garbage collector has to look at while people play: not the program."""

import subprocess
import sys
from pathlib import Path

import httpx2

from tests.people import METRICS_TOKEN, MONITORING
from tests.serving import PATIENCE, serving

COUNTS = """
import gc
from app import heap, main, metrics
before = len(gc.get_objects())
heap.freeze()
print(before, len(gc.get_objects()), metrics.longest_collection._value.get())
gc.collect()
print(metrics.longest_collection._value.get())
"""


def test_after_the_start_a_full_collection_looks_at_almost_nothing() -> None:
    answer = subprocess.run([sys.executable, "-c", COUNTS], capture_output=True, text=True, check=True, timeout=PATIENCE)
    before, after, unmeasured, measured = map(float, answer.stdout.split())
    assert before > 100_000
    assert after < 2_000
    assert (unmeasured, measured > 0) == (0, True)


def test_a_serving_process_has_settled_before_it_is_ready(tmp_path: Path) -> None:
    with serving(tmp_path, COINCHE_METRICS_TOKEN=METRICS_TOKEN) as coinche:
        page = httpx2.get(f"{coinche.url}/metrics", headers=MONITORING, timeout=PATIENCE).text
    [frozen] = [line.split()[1] for line in page.splitlines() if line.startswith("coinche_frozen_objects ")]
    assert float(frozen) > 100_000
