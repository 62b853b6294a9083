// Binning: the bin of a number is how many edges of its column are below it.

#include <algorithm>

#include "trees/trees.hpp"

namespace skliquid {
namespace {

using std::int64_t;
using std::uint8_t;

template <class Number>
void find_bins_of(const Number* X, int64_t n_rows, int64_t width, const double* edges,
                  uint8_t* bins, int64_t first_column, int64_t end_column) {
  constexpr int64_t block = 64;
  constexpr int lanes = 16;  // rows at once, so that their comparisons do not wait for each other
  for (int64_t start = 0; start < n_rows; start += block) {
    const int64_t end = std::min(start + block, n_rows);
    for (int64_t f = first_column; f < end_column; ++f) {
      double own[n_bins];  // two more than edges, for a binary search over 64
      std::copy(edges + f * most_edges, edges + (f + 1) * most_edges, own);
      own[62] = own[63] = std::numeric_limits<double>::infinity();
      uint8_t* to = bins + f * n_rows;
      for (int64_t i = start; i < end; i += lanes) {
        const int n = static_cast<int>(std::min<int64_t>(lanes, end - i));
        double x[lanes];
        int at[lanes] = {};
        for (int k = 0; k < lanes; ++k) {
          x[k] = static_cast<double>(X[(i + (k < n ? k : 0)) * width + f]);
        }
        for (int step = 32; step > 0; step >>= 1) {
          for (int k = 0; k < lanes; ++k) at[k] += own[at[k] + step - 1] < x[k] ? step : 0;
        }
        for (int k = 0; k < n; ++k) {
          to[i + k] = x[k] != x[k] ? missing_bin : static_cast<uint8_t>(at[k]);
        }
      }
    }
  }
}

}  // namespace

void find_bins(const double* X, int64_t n_rows, int64_t width, const double* edges, uint8_t* bins,
               int64_t first_column, int64_t end_column) {
  find_bins_of(X, n_rows, width, edges, bins, first_column, end_column);
}

void find_bins(const float* X, int64_t n_rows, int64_t width, const double* edges, uint8_t* bins,
               int64_t first_column, int64_t end_column) {
  find_bins_of(X, n_rows, width, edges, bins, first_column, end_column);
}

}  // namespace skliquid
