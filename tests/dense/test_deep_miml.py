"""What is special about DeepMIML; what it shares with all models is in tests/contracts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail import progress
from longtail.dense.bags import Bags
from longtail.dense.layers import Shape
from longtail.dense.training import Settings, Trained, _Network

torch = pytest.importorskip("torch")

SMALL = {"hidden": 24, "concepts": 2, "epochs": 30, "lr": 0.02, "validation": 0.0}


def toy(seed: int = 0, size: int = 12, n_groups: int = 150) -> tuple[Any, Any, Any, Any]:
    """Samples near one of five directions, in groups of up to ``size``, with counts; each sample's own label."""
    random = np.random.default_rng(seed)
    label = random.integers(0, 5, 300)
    x = (np.eye(5, 8)[label] + 0.25 * random.standard_normal((300, 8))).astype(np.float32)
    members = sp.lil_matrix((300, n_groups + 1), dtype=np.float32)  # the last group has no samples
    for group in range(n_groups):
        members[random.choice(300, random.integers(1, size + 1), replace=False), group] = 1
    groups = members.tocsr()
    known = lt.groups.merge_labels(groups, sp.csr_matrix(np.eye(5, dtype=np.float32)[label]))
    return x, groups, known, label


def settings(loss: str, tau: float) -> Settings:
    return Settings(Shape(8, 6, 3, 5), loss, tau, 1, 16, 0.01, 0.0, 0.0, 1, 0)


@pytest.mark.parametrize("loss", ["binary", "share"])
@pytest.mark.parametrize("tau", [0.0, 3.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_loss_against_a_plain_loop(loss: str, tau: float, sparse: bool) -> None:
    """Groups of mixed sizes in one batch; and the gradient against differences of the loss."""
    x, groups, known, _ = toy()
    directions = np.random.default_rng(1).standard_normal((8, 5)).astype(np.float32)
    weight = np.random.default_rng(2).uniform(0.5, 2, 300).astype(np.float32)
    batch = Bags.of_groups(groups, known, weight).with_labels().some(np.arange(20))
    assert len(set(batch.sizes.tolist())) > 3
    own = settings(loss, tau)
    trained = Trained.begin(own)
    given = sp.csr_matrix(x) if sparse else x
    turned = None if tau == 0 else sp.csr_matrix(directions) if sparse else directions
    network = _Network(torch, given, turned, own, trained)

    def plain(numbers: Any) -> float:
        total = 0.0
        for i, rows in enumerate(np.split(batch.rows, np.cumsum(batch.sizes)[:-1])):
            hidden = np.maximum(x[rows].astype(np.float64) @ numbers["hidden"] + numbers["hidden.bias"], 0)
            values = (hidden @ numbers["output"] + numbers["output.bias"]).reshape(-1, 3, 5).max(axis=1)
            powers = np.exp(tau * (x[rows].astype(np.float64) @ directions))
            values = (values * len(rows) * powers / powers.sum(axis=0)).max(axis=0)
            counts = batch.labels[i].toarray()[0]
            if loss == "share":
                cost = -(counts / counts.sum()) @ (values - np.log(np.exp(values).sum()))
            else:
                cost = np.logaddexp(0, np.where(counts > 0, -values, values)).sum()
            total += batch.weight[i] * cost
        return float(total / batch.weight.sum(dtype=np.float64))

    numbers = {name: a.astype(np.float64) for name, a in trained.numbers.items()}
    assert network.loss_of(batch) == pytest.approx(plain(numbers), rel=1e-5)
    found: dict[str, Any] = {}
    network._move = lambda gradients, weight: found.update(gradients)  # type: ignore[method-assign]
    network._step(batch)
    assert set(found) == set(own.shape.arrays)
    random = np.random.default_rng(3)
    for name, gradient in found.items():
        for _ in range(6):
            at = tuple(random.integers(0, n) for n in gradient.shape)
            sides = []
            for shift in (1e-6, -1e-6):
                moved = numbers[name].copy()
                moved[at] += shift
                sides.append(plain({**numbers, name: moved}))
            slope = (sides[0] - sides[1]) / 2e-6
            assert float(gradient[at]) == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_adamw_is_that_of_torch() -> None:
    trained = Trained.begin(own := settings("binary", 0.0))
    network = _Network(torch, np.zeros((1, 8), np.float32), None, own, trained)
    theirs = {name: torch.tensor(a, requires_grad=True) for name, a in trained.numbers.items()}
    adam = torch.optim.AdamW(theirs.values(), lr=0.01, weight_decay=0.0)
    random = np.random.default_rng(0)
    for _ in range(5):
        gradients = {
            name: torch.from_numpy(random.standard_normal(a.shape).astype(np.float32))
            for name, a in trained.numbers.items()
        }
        for name, tensor in theirs.items():
            tensor.grad = gradients[name].clone()
        adam.step()
        network._move(gradients, 1.0)
    for name, tensor in theirs.items():
        assert np.allclose(tensor.detach().numpy(), trained.numbers[name], atol=1e-6)


def test_groups_teach_single_samples_and_groups() -> None:
    x, groups, known, label = toy()
    model = lt.DeepMIML(**SMALL).fit(x, groups=groups, group_labels=known)
    assert (model.predict(x, k=1).labels[:, 0] == label).mean() > 0.9
    asked = model.predict(x, k=5, groups=groups)
    assert len(asked) == groups.shape[1]
    assert (asked.labels[-1] == -1).all()  # the group without samples
    some = np.flatnonzero(known.getnnz(axis=1))
    assert np.mean([known[g, asked.labels[g, 0]] > 0 for g in some]) > 0.9
    numbers = np.arange(300) // 7
    by_number = model.predict(x, k=2, groups=numbers, only=[1, 3])
    assert set(by_number.labels.ravel().tolist()) <= {1, 3}
    for group in (0, 20, 42):
        alone = model.predict(
            x[numbers == group], k=2, groups=np.zeros((numbers == group).sum(), int), only=[1, 3]
        )
        assert alone.labels.tobytes() == by_number.labels[group].tobytes()
        assert alone.scores.tobytes() == by_number.scores[group].tobytes()
    with pytest.raises(lt.DataError, match="X has 300 rows and groups has 3"):
        model.predict(x, groups=[0, 1, 2])


def test_shares_are_learnt_where_every_label_is_in_every_group() -> None:
    x, groups, known, label = toy(size=50, n_groups=200)
    own = {**SMALL, "epochs": 40}
    model = lt.DeepMIML(**own).fit(x, groups=groups, group_labels=known)
    assert model.loss_ == model.describe()["loss"] == "share"
    assert model.predict(x, k=5).scores.sum(axis=1) == pytest.approx(np.ones(300), abs=1e-5)
    plain = lt.DeepMIML(**own, tau=0.0).fit(x, groups=groups, group_labels=known)
    right, less = ((m.predict(x, k=1).labels[:, 0] == label).mean() for m in (model, plain))
    assert right > 0.9
    assert right >= less
    assert plain.label_embeddings_ is None


def test_weights_of_samples_count_for_their_groups() -> None:
    x, groups, known, label = toy()
    weight = np.ones(300)
    weight[:40] = 0
    model = lt.DeepMIML(**SMALL).fit(x, groups=groups, group_labels=known, sample_weight=weight)
    assert model.n_rows_ == 260
    assert (model.predict(x, k=1).labels[:, 0] == label).mean() > 0.8


def test_early_stopping_keeps_the_best_epoch() -> None:
    x, groups, known, _ = toy(n_groups=40)
    own = {**SMALL, "epochs": 400, "validation": 0.3, "patience": 4, "lr": 0.05}
    stats = lt.DeepMIML(**own).fit(x, groups=groups, group_labels=known).training_stats_
    held_out, best = stats["held_out"], stats["best_epoch"]
    assert len(stats["losses"]) == len(held_out) == best + 4 < 400
    assert held_out[best - 1] == min(held_out)
    short = lt.DeepMIML(**{**own, "epochs": best}).fit(x, groups=groups, group_labels=known)
    longer = lt.DeepMIML(**own).fit(x, groups=groups, group_labels=known)
    assert short.predict(x).scores.tobytes() == longer.predict(x).scores.tobytes()


def test_a_stop_between_epochs_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The middle of a training, also while it waits for a better epoch: moments and best weights go on."""
    monkeypatch.setattr("longtail.dense.training._SHARE", 1e9)  # a checkpoint after every epoch
    x, groups, known, _ = toy(n_groups=60)
    own = {**SMALL, "validation": 0.2, "patience": 6}
    expected = lt.DeepMIML(**own).fit(x, groups=groups, group_labels=known)

    class Stop(progress.Silent):
        def __init__(self, at: int):
            self.left = at

        def update(self, handle: int, done: int) -> None:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    point = tmp_path / "point"
    for at in (4, 9, 11):
        with progress.use(Stop(at)), pytest.raises(KeyboardInterrupt):
            lt.DeepMIML(**own).fit(x, groups=groups, group_labels=known, checkpoint=point)
    model = lt.DeepMIML(**own).fit(x, groups=groups, group_labels=known, checkpoint=point)
    assert model.training_stats_ == expected.training_stats_
    assert model.predict(x).scores.tobytes() == expected.predict(x).scores.tobytes()


def test_torch_has_its_threads_back() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        lt.DeepMIML(**{**SMALL, "epochs": 1}).fit(np.eye(4), np.eye(4))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_a_loss_that_is_not_finite_is_told() -> None:
    with pytest.raises(lt.ParameterError, match="'lr' parameter of DeepMIML is too large"):
        lt.DeepMIML(**{**SMALL, "lr": 1e6, "weight_decay": 1e6}).fit(np.eye(6), np.eye(6))


def test_a_saved_model_is_asked_without_torch(tmp_path: Path) -> None:
    lt.DeepMIML(**{**SMALL, "epochs": 2}).fit(np.eye(4), np.eye(4)).save(tmp_path / "m")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, longtail as lt\n"
        "m, x = lt.load(sys.argv[1]), np.eye(4)\n"
        "print(m.predict(x).labels.shape, m.predict(x, groups=[0, 0, 1, 1]).labels.shape)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path / "m")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(4, 4) (2, 4)\n"
