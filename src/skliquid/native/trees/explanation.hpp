// Exact Shapley values of trees, and of cosines of linear functions.
//
// Players are the columns of a table; each owns one column of the rows or several. A player that is
// not in a coalition is drawn from the background, independently of all others. A leaf, and a
// cosine as the real part of an exponential, is then a product over players of one factor each: a
// for the value in the row, q for its mean over the background. With n players, the Shapley value
// of player j in such a product is an integral over a polynomial,
//
//   phi_j = (a_j - q_j) integral_0^1 prod_{k != j} (t a_k + (1 - t) q_k) dt,
//
// and Gauss-Legendre quadrature with n / 2 points, rounded up, is exact.

#pragma once

#include <cstdint>
#include <vector>

#include "trees/trees.hpp"

namespace skliquid {

constexpr std::int64_t most_points = 32;       // of quadrature: exact for 64 players in a product
constexpr std::int64_t rows_explained = 32;    // side by side
constexpr std::int64_t outputs_explained = 4;  // of trees, at once

// Points in [0, 1] and weights of the quadratures with 1 to `most_points` points.
struct Quadratures {
  const double* numbers;

  const double* points(std::int64_t n) const { return numbers + (n - 1) * 2 * most_points; }
  const double* weights(std::int64_t n) const { return points(n) + most_points; }
};

struct Players {
  const std::int32_t* of_column;
  std::int64_t n;
};

// What the background says about trees: for each node, the share of its rows whose columns of one
// player satisfy all conditions on this player down to the node. The player is that of the split
// above the node.
struct Shares {
  std::vector<double> share;               // one for each node
  std::vector<std::uint32_t> level_above;  // of the last condition on the same player; 0: none
  std::vector<std::int64_t> n_points;      // one for each tree
  std::vector<double> expected;            // sum of the trees, one for each output
};

// Return false if a node has several parents: paths would be too many. `columns` has one row of
// `n_background` numbers per column.
bool find_shares(const Trees&, const Players&, const double* columns, std::int64_t n_background,
                 Shares&);

// Find the Shapley values of up to `rows_explained` rows: of each row, player and output.
void explain_rows(const Trees&, const Players&, const Shares&, const Quadratures&, const double* X,
                  std::int64_t n_rows, std::int64_t width, double* values);

// Cosines of `X @ directions + offsets`, where directions have one row for each of `n_waves`.
struct Waves {
  const double* directions;
  const double* offsets;
  std::int64_t width, n_waves;
  std::vector<double> means;  // of the factors of each wave and player: real, and imaginary parts
};

// Find the means of all factors over the background, which has one row per sample.
void find_means(Waves&, const Players&, const double* background, std::int64_t n_background);

// Return the expected cosine of a wave.
double expected_wave(const Waves&, const Players&, std::int64_t wave);

// Find the Shapley values of up to `rows_explained` rows: of each row, player and wave.
void explain_waves(const Waves&, const Players&, const Quadratures&, const double* X,
                   std::int64_t n_rows, double* values);

}  // namespace skliquid
