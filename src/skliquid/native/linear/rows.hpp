// Sums and additions over rows of X, dense or sparse.
//
// Additions to coefficients are element by element, each rounded separately. Sums are in order, as
// in scikit-learn, or in any order if the name says so. Those add several elements at once, and the
// caller knows a bound of the difference.

#pragma once

#include "linear/kernels.hpp"
#include "linear/vectors.hpp"

namespace SKLIQUID_INSTRUCTIONS {
namespace {

using skliquid::shortest;
using std::int64_t;

constexpr double epsilon = 2.220446049250313e-16;  // 2^-52
constexpr double smallest_square = 1e-258;         // for larger squares, `shortest` is negligible

template <class T>
struct DenseRows {
  using Real = T;
  static constexpr bool is_sparse = false;
  const Real* values;
  int64_t width;
  explicit DenseRows(const skliquid::Rows& rows)
      : values(static_cast<const Real*>(rows.values)), width(rows.n_columns) {}
  SKLIQUID_INLINE const Real* operator[](int64_t row) const { return values + row * width; }
};

template <class T>
struct SparseRows {
  using Real = T;
  static constexpr bool is_sparse = true;
  const Real* values;
  const std::int32_t* indices;
  const int64_t* indptr;
  explicit SparseRows(const skliquid::Rows& rows)
      : values(static_cast<const Real*>(rows.values)), indices(rows.indices), indptr(rows.indptr) {}
};

// Dot products. A product of floats is a float, as in scikit-learn; the sum is a double.

template <class Real>
SKLIQUID_INLINE double dot_in_order(const Real* w, const DenseRows<Real>& X, int64_t row) {
  const Real* x = X[row];
  double sum = 0.0;
  for (int64_t j = 0; j < X.width; ++j) sum += w[j] * x[j];
  return sum;
}

template <class Real>
SKLIQUID_INLINE double dot_in_order(const Real* w, const SparseRows<Real>& X, int64_t row) {
  double sum = 0.0;
  for (int64_t k = X.indptr[row]; k < X.indptr[row + 1]; ++k) sum += w[X.indices[k]] * X.values[k];
  return sum;
}

// Eight sums over the whole blocks of a row, and one sum over the rest of the row.
struct Sums {
  Doubles block = spread(0.0);
  double rest = 0.0;
};

template <class Real>
SKLIQUID_INLINE Sums dot_in_any_order(const Real* w, const DenseRows<Real>& X, int64_t row) {
  const Real* x = X[row];
  Sums even, odd;
  int64_t j = 0;
  for (; j + 2 * block_size <= X.width; j += 2 * block_size) {  // two independent chains
    even.block += widened(load(w + j) * load(x + j));
    odd.block += widened(load(w + j + block_size) * load(x + j + block_size));
  }
  if (j + block_size <= X.width) {
    even.block += widened(load(w + j) * load(x + j));
    j += block_size;
  }
  for (; j < X.width; ++j) even.rest += w[j] * x[j];
  even.block += odd.block;
  return even;
}

template <class Real>
SKLIQUID_INLINE double dot_in_any_order(const Real* w, const SparseRows<Real>& X, int64_t row) {
  double even = 0.0, odd = 0.0;
  int64_t k = X.indptr[row];
  const int64_t end = X.indptr[row + 1];
  for (; k + 1 < end; k += 2) {
    even += w[X.indices[k]] * X.values[k];
    odd += w[X.indices[k + 1]] * X.values[k + 1];
  }
  if (k < end) even += w[X.indices[k]] * X.values[k];
  return even + odd;
}

SKLIQUID_INLINE double total(const Sums& sums) { return total(sums.block) + sums.rest; }
SKLIQUID_INLINE double total(double sum) { return sum; }

template <class Real>
SKLIQUID_INLINE double squared_length(const Real* w, int64_t width) {
  Doubles sums = spread(0.0);
  int64_t j = 0;
  for (; j + block_size <= width; j += block_size) {
    const Doubles block = widened(load(w + j));
    sums += block * block;
  }
  double rest = 0.0;
  for (; j < width; ++j) rest += static_cast<double>(w[j]) * static_cast<double>(w[j]);
  return total(sums) + rest;
}

// Additions.

// Add `factor` times a row to coefficients. Return the sum of squares of the changed ones. Each
// square is rounded to the precision of the data, as in scikit-learn.
template <class Real>
SKLIQUID_INLINE double add_row(Real* w, const SparseRows<Real>& X, int64_t row, double factor) {
  double squares = 0.0;
  for (int64_t k = X.indptr[row]; k < X.indptr[row + 1]; ++k) {
    Real& coefficient = w[X.indices[k]];
    coefficient = static_cast<Real>(coefficient + static_cast<double>(X.values[k]) * factor);
    squares += coefficient * coefficient;  // here, because a row may store a column twice
  }
  return squares;
}

// Add `factor` times eight numbers of `x` to `w`, and return the sums. If the factor is zero,
// `zero` is -0.0, which leaves every number unchanged, including the sign of a zero. Else `zero` is
// 0.0.
template <class Real>
SKLIQUID_INLINE Block<Real> add_block(Real* w, const Real* x, const Doubles& factor,
                                      const Doubles& zero) {
  Block<Real> sum;
  narrow(widened(load(w)) + either_bits(widened(load(x)) * factor, zero), sum);
  store(sum, w);
  return sum;
}

template <class Real>
SKLIQUID_INLINE Real added(Real w, Real x, double factor, double zero) {
  return static_cast<Real>(w + either_bits(static_cast<double>(x) * factor, zero));
}

// Add `factor` times a row to coefficients. Fill in their dot product with the next row and their
// sum of squares, in any order: one pass instead of two.
template <bool counts_squares, class Real>
SKLIQUID_INLINE void add_and_look_ahead(Real* w, const DenseRows<Real>& X, int64_t row,
                                        double factor, double zero, int64_t next, Sums& products,
                                        Sums& squares) {
  const Real *x = X[row], *z = X[next];
  const Doubles factors = spread(factor), zeros = spread(zero);
  Sums even, odd, even_squares, odd_squares;
  const auto step = [&](int64_t j, Sums& product, Sums& square) {
    const Block<Real> sum = add_block(w + j, x + j, factors, zeros);
    product.block += widened(sum * load(z + j));
    if constexpr (counts_squares) square.block += widened(sum * sum);
  };
  int64_t j = 0;
  for (; j + 2 * block_size <= X.width; j += 2 * block_size) {
    step(j, even, even_squares);
    step(j + block_size, odd, odd_squares);
  }
  if (j + block_size <= X.width) {
    step(j, even, even_squares);
    j += block_size;
  }
  for (; j < X.width; ++j) {
    w[j] = added(w[j], x[j], factor, zero);
    even.rest += w[j] * z[j];
    even_squares.rest += w[j] * w[j];
  }
  even.block += odd.block;
  even_squares.block += odd_squares.block;
  products = even;
  squares = even_squares;
}

// The same for separators side by side, with dot products in order. Each addition waits for the
// previous one, so the separators take turns, with eight numbers each.
template <bool counts_squares, int n_lanes, class Real>
SKLIQUID_INLINE Numbers<n_lanes> add_and_look_ahead_in_order(
    Real* const (&w)[n_lanes], const DenseRows<Real>& X, const int64_t (&row)[n_lanes],
    const Numbers<n_lanes>& factor, const Numbers<n_lanes>& zero, const int64_t (&next)[n_lanes],
    Sums (&squares)[n_lanes]) {
  Numbers<n_lanes> sum = alike<n_lanes>(0.0);
  for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED { squares[k] = Sums(); });
  int64_t j = 0;
  for (; j + block_size <= X.width; j += block_size) {
    Doubles products[n_lanes];
    for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED {
      const Block<Real> block =
          add_block(w[k] + j, X[row[k]] + j, spread(lane(factor, k)), spread(lane(zero, k)));
      products[k] = widened(block * load(X[next[k]] + j));
      if constexpr (counts_squares) squares[k].block += widened(block * block);
    });
    add_in_order(sum, products);
  }
  for (; j < X.width; ++j) {
    sum += numbers<n_lanes>([&](int k) SKLIQUID_INLINED {
      Real& coefficient = w[k][j];
      coefficient = added(coefficient, X[row[k]][j], lane(factor, k), lane(zero, k));
      squares[k].rest += coefficient * coefficient;
      return static_cast<double>(coefficient * X[next[k]][j]);
    });
  }
  return sum;
}

// Add `factor` times a row times `pull` to an average. Each product is rounded.
template <class Real>
SKLIQUID_INLINE void add_to_average(Real* average, const DenseRows<Real>& X, int64_t row,
                                    double factor, double pull) {
  const Real* x = X[row];
  const Doubles factors = spread(factor), pulls = spread(pull);
  int64_t j = 0;
  for (; j + block_size <= X.width; j += block_size) {
    Block<Real> sum;
    narrow(widened(load(average + j)) + widened(load(x + j)) * factors * pulls, sum);
    store(sum, average + j);
  }
  for (; j < X.width; ++j) {
    average[j] = static_cast<Real>(average[j] + factor * static_cast<double>(x[j]) * pull);
  }
}

template <class Real>
SKLIQUID_INLINE void add_to_average(Real* average, const SparseRows<Real>& X, int64_t row,
                                    double factor, double pull) {
  for (int64_t k = X.indptr[row]; k < X.indptr[row + 1]; ++k) {
    Real& number = average[X.indices[k]];
    number = static_cast<Real>(number + factor * static_cast<double>(X.values[k]) * pull);
  }
}

template <class Real>
SKLIQUID_INLINE void multiply(Real* w, int64_t width, double factor) {
  const Real rounded_factor = static_cast<Real>(factor);
  for (int64_t j = 0; j < width; ++j) w[j] *= rounded_factor;
}

template <class Real>
SKLIQUID_INLINE bool all_finite(const Real* w, int64_t width) {
  Doubles sums = spread(0.0);  // becomes NaN if a number is not finite
  int64_t j = 0;
  for (; j + block_size <= width; j += block_size) sums += widened(load(w + j)) * 0.0;
  double rest = 0.0;
  for (; j < width; ++j) rest += 0.0 * w[j];
  return total(sums) + rest == 0.0;
}

// Lengths of rows. They are wrong for a sparse row that stores a column twice.

// Squares of very small numbers underflow. A row of such numbers gets an infinite length, so that
// its error bounds are infinite.
template <class Real>
double length_of(const Real* numbers, int64_t n) {
  const double squares = squared_length(numbers, n);
  if (squares < smallest_square) {
    for (int64_t j = 0; j < n; ++j) {
      if (numbers[j] != 0) return INFINITY;
    }
  }
  return std::sqrt(squares) + shortest;
}

template <class Real>
double row_norm(const DenseRows<Real>& X, int64_t row) {
  return length_of(X[row], X.width);
}

template <class Real>
double row_norm(const SparseRows<Real>& X, int64_t row) {
  const int64_t start = X.indptr[row];
  return length_of(X.values + start, X.indptr[row + 1] - start);
}

template <class Rows>
void fill_row_norms(const Rows& X, int64_t n_rows, double* norms) {
  for (int64_t row = 0; row < n_rows; ++row) norms[row] = row_norm(X, row);
}

inline void row_norms(const skliquid::Rows& rows, bool is_single, double* norms) {
  if (is_single) {
    rows.indices ? fill_row_norms(SparseRows<float>(rows), rows.n_rows, norms)
                 : fill_row_norms(DenseRows<float>(rows), rows.n_rows, norms);
  } else {
    rows.indices ? fill_row_norms(SparseRows<double>(rows), rows.n_rows, norms)
                 : fill_row_norms(DenseRows<double>(rows), rows.n_rows, norms);
  }
}

// Prefetch a dense row: processors cannot predict the order of shuffled rows.
template <class Real>
SKLIQUID_INLINE void prefetch(const DenseRows<Real>& X, int64_t row) {
  constexpr int64_t cache_line = 64 / sizeof(Real);
  for (int64_t j = 0; j < X.width; j += cache_line) SKLIQUID_PREFETCH(X[row] + j);
}

}  // namespace
}  // namespace SKLIQUID_INSTRUCTIONS
