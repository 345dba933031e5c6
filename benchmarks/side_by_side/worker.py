"""One measurement in a process of its own, in the environment of the system measured.

    python -m benchmarks.side_by_side.worker train|predict|text|export SYSTEM SET_FOLDER MODEL_FOLDER RESULT

``train`` trains and saves a model; ``predict`` loads it, ranks the test rows in one batch and one by one, and writes
the lists beside RESULT; ``text`` goes from raw texts to a trained model and asks it single texts; ``export`` writes
longtail's model of the set as one of PECOS's. RESULT is a JSON object of what was measured.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import machine, sets, systems

SINGLE_ROWS = 2000
WARM_UP = 50
BATCH_SECONDS = 2.0  # a batch is repeated until so much time is spent; its best time counts


def train(name: str, folder: Path, model: Path, threads: int, seed: int) -> dict[str, Any]:
    """Trains on a prepared set. Memory is counted from after the data are loaded in the system's form."""
    system = systems.make(name)
    system.seed = seed
    shutil.rmtree(model, ignore_errors=True)
    model.parent.mkdir(parents=True, exist_ok=True)
    loaded = sets.load(folder, test=False)
    data = system.prepare(folder, loaded.x, loaded.y, threads)
    if name == "omikuji":
        del loaded  # it holds a copy of its own, read from the file
    machine.reset_peak()
    before = machine.resident_bytes()
    with machine.Meter() as meter:
        phases = system.train(data, threads, model)
    peak = machine.peak_bytes()
    with machine.Meter() as saving:
        system.save(model)
    return {
        "version": system.version(),
        "settings": system.settings,
        "seconds": meter.wall,
        "cpu": meter.cpu,
        "others": meter.others,
        "phases": phases,
        "data_bytes": before,
        "peak_bytes": peak,
        "extra_bytes": peak - before,
        "save_seconds": saving.wall,
        "model_bytes": sum(file.stat().st_size for file in model.rglob("*") if file.is_file()),
    }


def predict(name: str, folder: Path, model: Path, lists: Path) -> dict[str, Any]:
    """Loads a model that ``train`` saved and ranks the test rows of the set."""
    system = systems.make(name)
    x = sets.load(folder, train=False).x_test
    before = machine.resident_bytes()
    with machine.Meter() as loading:
        system.load(model)
    after = machine.resident_bytes()
    result: dict[str, Any] = {"load_seconds": loading.wall}
    rows = system.rows(x)
    others = []
    for threads in (1, 2):
        best, answer, spent = float("inf"), None, 0.0
        # The first pass over a mapped model reads it in: it is not the best one.
        while spent < BATCH_SECONDS:
            with machine.Meter() as meter:
                answer = system.batch(rows, threads)
            best, spent = min(best, meter.wall), spent + meter.wall
            others.append(meter.others)
        result[f"batch_{threads}"] = x.shape[0] / best
        labels, scores = system.lists(answer, x.shape[0])
        del answer
    np.savez(lists, labels=labels, scores=scores)
    result["load_bytes"] = after - before
    result["model_memory"] = machine.resident_bytes() - before
    result |= _single(system, x)
    result["others"] = max([*others, result.pop("single_others")])
    return result


def _single(system: Any, x: Any) -> dict[str, float]:
    """Percentiles of the time for one row, every row a different one, in the order of a fixed shuffle."""
    order = np.random.default_rng(0).permutation(x.shape[0])
    queries = [system.row(x, int(at)) for at in order[: SINGLE_ROWS + WARM_UP]]
    p50, p99, others = _percentiles(system.single, queries)
    return {"p50": p50, "p99": p99, "single_others": others}


def _percentiles(ask: Callable[[Any], Any], queries: list[Any]) -> tuple[float, float, float]:
    """p50 and p99 in µs, and what others did meanwhile; the first few queries are not counted."""
    for query in queries[:WARM_UP]:
        ask(query)
    times = np.empty(len(queries) - WARM_UP)
    with machine.Meter() as meter:
        for at, query in enumerate(queries[WARM_UP:]):
            began = time.perf_counter_ns()
            ask(query)
            times[at] = time.perf_counter_ns() - began
    p50, p99 = np.percentile(times / 1e3, [50, 99])
    return float(p50), float(p99), meter.others


def text(name: str, folder: Path, threads: int, seed: int) -> dict[str, Any]:
    """From raw texts in memory to a trained model; then single raw texts, and the same as features."""
    system = systems.make(name)
    system.seed = seed
    texts, asked = sets.texts(folder, "trn"), sets.texts(folder, "tst")
    if texts is None or asked is None:
        raise SystemExit(f"{folder} has no texts")
    y = sets.load(folder, test=False).y
    machine.reset_peak()
    before = machine.resident_bytes()
    with machine.Meter() as meter:
        phases = system.train_text(texts, y, threads)
    peak = machine.peak_bytes()
    queries = asked[: SINGLE_ROWS + WARM_UP]
    text_p50, text_p99, others = _percentiles(system.text, queries)
    row_p50, row_p99, more = _percentiles(system.single, [system.text_row(query) for query in queries])
    return {
        "seconds": meter.wall,
        "cpu": meter.cpu,
        "others": max(meter.others, others, more),
        "phases": phases,
        "extra_bytes": peak - before,
        "text_p50": text_p50,
        "text_p99": text_p99,
        "row_p50": row_p50,
        "row_p99": row_p99,
    }


def main() -> None:
    """Measures, writes the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("train", "predict", "text", "export"))
    parser.add_argument("system", choices=systems.SYSTEMS)
    parser.add_argument("set_folder", type=Path)
    parser.add_argument("model_folder", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of training")
    args = parser.parse_args()
    if args.part == "train":
        result = train(args.system, args.set_folder, args.model_folder, args.threads, args.seed)
    elif args.part == "text":
        result = text(args.system, args.set_folder, args.threads, args.seed)
    elif args.part == "export":
        from .same_weights import export

        result = export(args.model_folder.parent / "longtail", args.model_folder)
    else:
        lists = args.result.with_suffix(".npz")
        result = predict(args.system, args.set_folder, args.model_folder, lists)
    args.result.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
