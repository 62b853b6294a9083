// The exponential function, computed with sums and products only: the same bits with every compiler
// and library. The relative error is below 1e-14.

#pragma once

#include <cstdint>
#include <cstring>

namespace skliquid {

inline double exponential(double x) {
  x = x < -700.0 ? -700.0 : x > 700.0 ? 700.0 : x;
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2**52: adding it rounds to a whole number
  const double shifted = x * 1.4426950408889634 + magic;
  const double k = shifted - magic;
  const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  double p = 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  std::uint64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023u) << 52;  // the low bits of `shifted` are k
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

}  // namespace skliquid
