// Threads that share the work of a call, and Ctrl-C while they run.

#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "door/arrays.hpp"

namespace skliquid {

constexpr std::int64_t most_threads = 1024;
constexpr double seconds_between_signals = 0.1;

// Check `n_threads`, and return how many of them `n_jobs` jobs can use.
inline std::int64_t usable_threads(std::int64_t n_threads, std::int64_t n_jobs) {
  require(n_threads >= 1 && n_threads <= most_threads, "n_threads must be from 1 to 1024.");
  return n_threads < n_jobs ? n_threads : n_jobs > 1 ? n_jobs : 1;
}

inline thread_local std::chrono::steady_clock::time_point last_asked;

// Start the wait before Python is first asked for signals.
inline void ask_from_now_on() { last_asked = std::chrono::steady_clock::now(); }

// Whether the user has pressed Ctrl-C. Python is asked ten times a second at most, and only by the
// thread that called the core.
inline bool is_interrupted() {
  const auto now = std::chrono::steady_clock::now();
  if (std::chrono::duration<double>(now - last_asked).count() < seconds_between_signals) {
    return false;
  }
  last_asked = now;
  nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

// Call `work(0)` in this thread, and `work(k)` for k from 1 to `n - 1` in a new thread each. Then
// wait, and call `meanwhile` ten times a second. All threads end before this returns, because a
// forked process would lose them. If the system provides fewer threads than requested, the running
// ones do all the work: `work` takes jobs from a shared queue. It must not throw.
template <class Work, class Meanwhile>
void share(std::int64_t n, const Work& work, const Meanwhile& meanwhile) {
  std::vector<std::thread> helpers;
  std::mutex mutex;
  std::condition_variable is_done;
  std::size_t n_done = 0;
  try {
    helpers.reserve(static_cast<std::size_t>(n > 1 ? n - 1 : 0));
    for (std::int64_t k = 1; k < n; ++k) {
      helpers.emplace_back([&, k] {
        work(k);
        const std::lock_guard<std::mutex> lock(mutex);
        ++n_done;
        is_done.notify_one();
      });
    }
  } catch (...) {
    // no more threads or memory: the running threads empty the queue
  }
  work(0);
  {
    std::unique_lock<std::mutex> lock(mutex);
    while (n_done < helpers.size()) {
      is_done.wait_for(lock, std::chrono::milliseconds(100));
      lock.unlock();
      meanwhile();
      lock.lock();
    }
  }
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace skliquid
