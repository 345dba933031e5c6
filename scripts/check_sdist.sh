#!/usr/bin/env bash
# Packs the sources into dist/, builds a wheel from that pack alone, and runs the wheel in a new environment.
#
#     scripts/check_sdist.sh PYTHON        PYTHON has the package "build"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$1

rm -rf dist
"$python" -m build --sdist --outdir dist . > /dev/null
pack=$(ls dist/longtail-*.tar.gz)
echo "$pack: $(tar tzf "$pack" | wc -l) files, $(wc -c < "$pack") bytes"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "Building a wheel from it ..."
"$python" -m pip --quiet wheel --no-deps --wheel-dir dist "$pack"
"$python" -m venv "$work/env"
"$work/env/bin/python" -m pip --quiet install dist/longtail-*.whl
cd "$work"
"$work/env/bin/longtail" --version
"$work/env/bin/longtail" demo --quiet
