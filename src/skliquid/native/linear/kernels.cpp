// The kernels for one instruction set: training, voting, row norms, and the cosines of random
// Fourier features.
//
// This file is compiled once per instruction set. SKLIQUID_INSTRUCTIONS is its name, and the
// namespace of everything compiled for it, so that the linker cannot mix up functions for different
// processors.

#include <cmath>
#include <cstdint>

#include "linear/training.hpp"
#include "linear/voting.hpp"

#define SKLIQUID_TEXT_OF(name) #name
#define SKLIQUID_TEXT(name) SKLIQUID_TEXT_OF(name)

namespace SKLIQUID_INSTRUCTIONS {
namespace {

constexpr double one_over_pi = 0.3183098861837907;
constexpr double pi_in_three[] = {0x1.921fb54p+1, 0x1.10b46118p-29, 0x1.313198a2e0370p-60};
constexpr double farthest_by_polynomial = 1e6;

// Coefficients of the sine polynomial, the highest power first: (-1)^k / (2k + 1)!, k from 10 to 1.
constexpr double sine[] = {
    1.0 / 51090942171709440000.0,
    -1.0 / 121645100408832000.0,
    1.0 / 355687428096000.0,
    -1.0 / 1307674368000.0,
    1.0 / 6227020800.0,
    -1.0 / 39916800.0,
    1.0 / 362880.0,
    -1.0 / 5040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
};

// The readable version is `cosine` in pools/linear/reference.py.
inline double cosine(double x) {
  double half = 0.5 * x;
  const double turns = std::floor(half * one_over_pi + 0.5);
  for (const double part : pi_in_three) half -= turns * part;
  const double square = half * half;
  double tail = 0.0;
  for (const double factor : sine) tail = tail * square + factor;
  const double its_sine = half + half * (square * tail);
  return 1.0 - 2.0 * (its_sine * its_sine);
}

// Replace each number by `factor` times its cosine.
inline void cosines(double* values, std::int64_t n, double factor) {
  std::int64_t n_far = 0;
  for (std::int64_t i = 0; i < n; ++i) n_far += !(std::fabs(values[i]) <= farthest_by_polynomial);
  if (n_far == 0) {  // without a branch, compilers vectorize the loop
    for (std::int64_t i = 0; i < n; ++i) values[i] = factor * cosine(values[i]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = values[i];
    const bool is_near = std::fabs(x) <= farthest_by_polynomial;
    values[i] = factor * (is_near ? cosine(x) : std::cos(x));
  }
}

}  // namespace

extern const skliquid::Kernels kernels;
const skliquid::Kernels kernels = {
    SKLIQUID_TEXT(SKLIQUID_INSTRUCTIONS),
    n_side_by_side,
    scratch_size,
    train,
    count_steps,
    score_and_judge,
    vote_by_scores,
    row_norms,
    cosines,
};

}  // namespace SKLIQUID_INSTRUCTIONS
