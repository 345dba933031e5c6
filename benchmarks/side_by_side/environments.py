"""Environments: each peer needs versions of NumPy and SciPy that the others cannot live with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["python_of"]

# libpecos is built for old versions of NumPy and SciPy, and lists PyTorch and more that its linear model does not use.
PACKAGES: dict[str, list[list[str]]] = {
    "pecos": [
        ["numpy==1.26.4", "scipy==1.13.1", "scikit-learn==1.5.2"],
        ["--no-deps", "libpecos==1.2.8"],
    ],
    "others": [["numpy==1.26.4", "scipy", "omikuji==0.5.2", "napkinxc==0.7.2"]],
}


def python_of(name: str, work: Path, base: str) -> str:
    """The interpreter of an environment, which is made when missing. "longtail" is the one that runs this."""
    if name == "longtail":
        return sys.executable
    folder = work / f"environment-{name}"
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    wanted = repr(PACKAGES[name])
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Making the environment of {name} in {folder} ...", flush=True)
        subprocess.run([base, "-m", "venv", "--clear", str(folder)], check=True)
        for packages in PACKAGES[name]:
            pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
            subprocess.run([*pip, *packages], check=True)
        stamp.write_text(wanted)
    return str(python)
