// A team of threads for one call: parallel_for hands out task numbers until none is left.
//
// Threads live as long as the call. Starting one costs some 20 µs, which work worth sharing hides; in return there is no
// idle pool to break after fork(), to hold cores, or to clash with other runtimes. Work that fits one thread runs inline.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>

namespace longtail {

/// What the calling thread does every 50 ms or so while the team works: it reports progress and may ask to stop.
struct Watch {
  std::atomic<int64_t> done{0};          // advanced by the tasks, in units of their own
  std::atomic<bool> stop{false};         // tasks may look at it and return early
  std::function<bool(int64_t)> poll;     // called on the calling thread with `done`; true asks the team to stop
};

/// Thrown on the calling thread when poll() asked to stop and the tasks have come to an end.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

/// Runs task(i, worker) for i in [0, n_tasks) on up to `threads` threads, in rising order of i as threads become free.
/// `worker` is in [0, threads). The first exception of a task ends the run and is thrown here.
void parallel_for(int64_t n_tasks, int threads, const std::function<void(int64_t, int)>& task, Watch* watch = nullptr);

/// The same over [0, n) in blocks of `block`: task(begin, end, worker).
void parallel_blocks(int64_t n, int64_t block, int threads,
                     const std::function<void(int64_t, int64_t, int)>& task, Watch* watch = nullptr);

}  // namespace longtail
