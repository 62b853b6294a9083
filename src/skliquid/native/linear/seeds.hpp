// Random numbers with the same bits as in NumPy and scikit-learn.

#pragma once

#include <cstdint>

namespace skliquid {

// Shuffle `order` as scikit-learn does with `seed`: Fisher-Yates, driven by a 32-bit xorshift.
inline void shuffle(std::uint32_t seed, std::int32_t* order, std::int64_t n) {
  std::uint32_t state = seed;
  for (std::int64_t i = 0; i < n - 1; ++i) {
    if (state == 0) state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const std::int64_t j = i + (state & 0x7FFFFFFFu) % static_cast<std::uint32_t>(n - i);
    const std::int32_t last = order[i];
    order[i] = order[j];
    order[j] = last;
  }
}

// The first 624 - 397 numbers of a Mersenne twister do not depend on earlier ones.
constexpr std::int64_t most_draws = 227;

// Fill in the first draws of `RandomState(seed).randint(2**31 - 1)`. A draw that NumPy may
// reject, one in a billion, becomes -1.
inline void legacy_draws(std::uint32_t seed, std::int64_t n_draws, std::int64_t* draws) {
  std::uint32_t words[398 + most_draws];
  words[0] = seed;
  for (std::uint32_t i = 1; i < 398 + n_draws; ++i) {
    words[i] = 1812433253u * (words[i - 1] ^ (words[i - 1] >> 30)) + i;
  }
  for (std::int64_t i = 0; i < n_draws; ++i) {
    const std::uint32_t mixed = (words[i] & 0x80000000u) | (words[i + 1] & 0x7FFFFFFFu);
    std::uint32_t y = words[i + 397] ^ (mixed >> 1);
    if (mixed & 1u) y ^= 0x9908B0DFu;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    y ^= y >> 18;
    const std::int64_t value = y & 0x7FFFFFFFu;
    draws[i] = value < 2147483646 ? value : -1;
  }
}

}  // namespace skliquid
