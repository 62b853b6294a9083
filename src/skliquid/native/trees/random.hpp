// Random numbers for trees: splitmix64, which is easy to repeat in any language.

#pragma once

#include <cstdint>

namespace skliquid {

class Random {
  std::uint64_t state;

 public:
  explicit Random(std::uint64_t seed) : state(seed) {}

  std::uint64_t next() {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Return a whole number from 0 to `end - 1`; `end` is at most 2**32.
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(((next() >> 32) * static_cast<std::uint64_t>(end)) >> 32);
  }
};

// Draw `n_drawn` of the numbers below n without replacement. In increasing order, call `take(i)`
// for the drawn numbers and `leave(i)` for the others.
template <class Take, class Leave>
void draw_rows(Random& random, std::int64_t n, std::int64_t n_drawn, const Take& take,
               const Leave& leave) {
  std::int64_t n_wanted = n_drawn;
  for (std::int64_t i = 0; i < n; ++i) {
    if (n_wanted == n - i || random.below(n - i) < n_wanted) {
      take(i);
      --n_wanted;
    } else {
      leave(i);
    }
  }
}

}  // namespace skliquid
