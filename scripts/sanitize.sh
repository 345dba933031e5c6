#!/usr/bin/env bash
# Builds longtail with AddressSanitizer and UndefinedBehaviorSanitizer and fuzzes it.
#
#     scripts/sanitize.sh PYTHON ENVIRONMENT CASES
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$1 venv=$2 cases=$3
cxx=${CXX:-g++}

if [ "$(uname)" != Linux ]; then
  echo "make sanitize runs on Linux: the sanitizer's library has to be loaded before Python." >&2
  exit 1
fi
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
pip=("$venv/bin/python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" install "scikit-build-core>=0.11" "nanobind>=2.4"
"$venv/bin/python" -c 'from scikit_build_core.build import get_requires_for_build_wheel as r; print(*r(), sep="\n")' \
  > "$venv/build-requires.txt"
"${pip[@]}" install -r "$venv/build-requires.txt"
echo "Compiling longtail with sanitizers ..."
LONGTAIL_SANITIZE=ON "${pip[@]}" install --no-build-isolation -C build-dir=build/sanitize ".[parquet,zstd]"

# Python itself is not instrumented: the run-time library comes first, and Python's own leaks are not our subject.
preload=$("$cxx" -print-file-name=libasan.so):$("$cxx" -print-file-name=libubsan.so)
stdcxx=$("$cxx" -print-file-name=libstdc++.so.6)
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
LD_PRELOAD=$preload:$stdcxx "$venv/bin/python" tests/fuzz/run.py --cases "$cases"
