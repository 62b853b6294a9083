// Work that several threads share.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace skliquid {

// Call `work(k)` for k from 0 to `n - 1`, each in a thread of its own, the first in this one; then
// wait, and call `meanwhile` ten times a second. Threads end before this returns, so none exists
// that a forked process could miss. Where the system gives fewer threads than asked for, those that
// started share the work: `work` takes from a common queue, and must not throw.
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
    // no thread or no memory for one: the queue is emptied by those who came
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
