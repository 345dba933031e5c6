#include "core/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace longtail {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollEvery = std::chrono::milliseconds(50);

void run_inline(int64_t n_tasks, const std::function<void(int64_t, int)>& task, Watch* watch) {
  auto last = Clock::now();
  for (int64_t i = 0; i < n_tasks; ++i) {
    task(i, 0);
    if (watch != nullptr && watch->poll && Clock::now() - last >= kPollEvery) {
      if (watch->poll(watch->done.load())) watch->stop = true;
      last = Clock::now();
    }
    if (watch != nullptr && watch->stop) throw Stopped();
  }
}

}  // namespace

void parallel_for(int64_t n_tasks, int threads, const std::function<void(int64_t, int)>& task, Watch* watch) {
  if (n_tasks <= 0) return;
  const bool watched = watch != nullptr && watch->poll;
  const int team = static_cast<int>(std::min<int64_t>(std::max(threads, 1), n_tasks));
  // One long task on one thread still needs somebody free to hear Ctrl-C, so a watched run always has a team.
  if (team == 1 && !watched) return run_inline(n_tasks, task, watch);

  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex mutex;
  std::condition_variable finished;
  int running = team;

  auto work = [&](int worker) {
    try {
      while (!failed && !(watch != nullptr && watch->stop)) {
        const int64_t i = next.fetch_add(1);
        if (i >= n_tasks) break;
        task(i, worker);
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!failed.exchange(true)) error = std::current_exception();
    }
    std::lock_guard<std::mutex> lock(mutex);
    --running;
    finished.notify_all();
  };

  // With nobody to report to, the calling thread is one of the team.
  const int spawned = watched ? team : team - 1;
  std::vector<std::thread> threads_of_team;
  threads_of_team.reserve(static_cast<size_t>(spawned));
  try {
    for (int w = 0; w < spawned; ++w) threads_of_team.emplace_back(work, w);
  } catch (...) {  // no more threads to be had: those that run do the work
    std::lock_guard<std::mutex> lock(mutex);
    running -= spawned - static_cast<int>(threads_of_team.size());
    if (threads_of_team.empty() && watched) {
      running = 1;
    }
  }
  std::exception_ptr poll_error;
  if (!watched || threads_of_team.empty()) {
    work(team - 1);
  } else {
    std::unique_lock<std::mutex> lock(mutex);
    while (running > 0) {
      finished.wait_for(lock, kPollEvery, [&] { return running == 0; });
      if (running == 0) break;
      lock.unlock();
      try {
        if (!watch->stop && watch->poll(watch->done.load())) watch->stop = true;
      } catch (...) {
        poll_error = std::current_exception();
        watch->stop = true;
      }
      lock.lock();
    }
  }
  for (auto& thread : threads_of_team) thread.join();
  if (poll_error) std::rethrow_exception(poll_error);
  if (error) std::rethrow_exception(error);
  if (watch != nullptr && watch->stop) throw Stopped();
}

void parallel_blocks(int64_t n, int64_t block, int threads, const std::function<void(int64_t, int64_t, int)>& task,
                     Watch* watch) {
  block = std::max<int64_t>(block, 1);
  const int64_t n_blocks = (n + block - 1) / block;
  parallel_for(
      n_blocks, threads,
      [&](int64_t b, int worker) { task(b * block, std::min(n, (b + 1) * block), worker); }, watch);
}

}  // namespace longtail
