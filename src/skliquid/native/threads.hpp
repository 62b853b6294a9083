// Work that several threads share.

#pragma once

#include <system_error>
#include <thread>
#include <vector>

namespace skliquid {

// Call `work(k)` for k from 0 to `n - 1`, each in a thread of its own, the first in this one.
// Threads end before this returns, so none exists that a forked process could miss. Where the
// system gives fewer threads than asked for, those that started share the work: `work` takes from a
// common queue.
template <class Work>
void share(std::int64_t n, const Work& work) {
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<std::size_t>(n > 0 ? n - 1 : 0));
  try {
    for (std::int64_t k = 1; k < n; ++k) helpers.emplace_back([&work, k] { work(k); });
  } catch (const std::system_error&) {
    // the queue is emptied by those who came
  }
  work(0);
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace skliquid
