// Predictions of trees: the sums of their leaf values, and probabilities from scores.

#include <algorithm>
#include <cstring>

#include "trees/exponential.hpp"
#include "trees/trees.hpp"

namespace skliquid {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

constexpr int64_t rows_at_once = 16;

template <class Number>
bool goes_right(const Node& node, Number x) {
  if (x != x) return (node.feature & missing_goes_right) != 0;
  if (node.feature & is_categorical) {
    // unknown categories count as missing
    if (!(x >= 0 && x < missing_bin)) return (node.feature & missing_goes_right) != 0;
    return (node.cut >> static_cast<int>(x)) & 1;
  }
  double cut;
  std::memcpy(&cut, &node.cut, sizeof cut);
  return static_cast<double>(x) > cut;
}

// Descend a tree with several rows side by side. A row that has reached its leaf stays there.
template <class Number>
void walk(const Node* tree, const Number* X, int64_t n, int64_t width, uint32_t* at) {
  std::fill(at, at + rows_at_once, 0u);
  uint32_t n_inside = 1;
  while (n_inside) {
    n_inside = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Node& node = tree[at[i]];
      const Number x = X[i * width + (node.feature & feature_bits)];
      const uint32_t next = node.next + goes_right(node, x);
      const bool is_inside = !(node.feature & is_leaf);
      at[i] = is_inside ? next : at[i];
      n_inside |= is_inside;
    }
  }
}

// The same for exactly `rows_at_once` rows, without missing values, and trees without categorical
// splits. In deep trees, the loop ends when no row has moved.
template <class Number>
void stride(const Step* tree, int64_t depth, const Number* X, int64_t width, uint32_t* at) {
  constexpr int64_t shallow = 8;
  std::fill(at, at + rows_at_once, 0u);
  for (int64_t level = 0; level < depth; ++level) {
    uint32_t moved = 0;
    for (int64_t i = 0; i < rows_at_once; ++i) {
      const Step step = tree[at[i]];
      const auto x = static_cast<double>(X[i * width + step.feature]);
      const uint32_t next = step.next + (x > step.cut);
      moved |= next ^ at[i];
      at[i] = next;
    }
    if (depth > shallow && !moved) break;
  }
}

// Add the pairs of a leaf to the sums of a row. Values for all outputs go to `of_all`, which is
// added at the end.
void add_pairs(const Node& leaf, const float* values, int64_t n_outputs, double* sums,
               double& of_all) {
  const float* pair = values + static_cast<int64_t>(leaf.next) * 2;
  for (uint64_t j = 0; j < leaf.cut; ++j, pair += 2) {
    const auto output = static_cast<int64_t>(pair[0]);
    (output < n_outputs ? sums[output] : of_all) += static_cast<double>(pair[1]);
  }
}

template <class Number>
void add_up_rows(const Trees& trees, const Number* X, int64_t n_rows, int64_t width,
                 bool has_missing, double* sums) {
  const int64_t k = trees.n_outputs;
  std::vector<double> of_all(static_cast<std::size_t>(trees.is_sparse ? n_rows : 0));
  uint32_t at[rows_at_once];
  for (std::size_t t = 0; t < trees.roots.size(); ++t) {
    const Node* tree = trees.nodes.data() + trees.roots[t];
    const Step* steps = trees.steps.data() + trees.roots[t];
    const float* values = trees.values.data() + trees.leaves[t] * trees.n_per_leaf();
    for (int64_t start = 0; start < n_rows; start += rows_at_once) {
      const int64_t n = std::min(rows_at_once, n_rows - start);
      if (has_missing || trees.depths[t] < 0 || n < rows_at_once) {
        walk(tree, X + start * width, n, width, at);
      } else {
        stride(steps, trees.depths[t], X + start * width, width, at);
      }
      if (trees.is_sparse) {
        for (int64_t i = 0; i < n; ++i) {
          const std::size_t row = static_cast<std::size_t>(start + i);
          add_pairs(tree[at[i]], values, k, sums + (start + i) * k, of_all[row]);
        }
        continue;
      }
      for (int64_t i = 0; i < n; ++i) {
        const float* value = values + static_cast<int64_t>(tree[at[i]].next) * k;
        double* sum = sums + (start + i) * k;
        for (int64_t c = 0; c < k; ++c) sum[c] += static_cast<double>(value[c]);
      }
    }
  }
  for (std::size_t i = 0; i < of_all.size(); ++i) {
    double* sum = sums + static_cast<int64_t>(i) * k;
    for (int64_t c = 0; c < k; ++c) sum[c] += of_all[i];
  }
}

}  // namespace

void add_up(const Trees& trees, const double* X, int64_t n_rows, int64_t width, bool has_missing,
            double* sums) {
  add_up_rows(trees, X, n_rows, width, has_missing, sums);
}

void add_up(const Trees& trees, const float* X, int64_t n_rows, int64_t width, bool has_missing,
            double* sums) {
  add_up_rows(trees, X, n_rows, width, has_missing, sums);
}

void to_probabilities(const double* scores, int64_t n_rows, int64_t n_classes,
                      double* probabilities) {
  for (int64_t i = 0; i < n_rows; ++i) {
    double* p = probabilities + i * n_classes;
    if (n_classes == 2) {
      p[1] = 1.0 / (1.0 + exponential(-scores[i]));
      p[0] = 1.0 - p[1];
      continue;
    }
    const double* score = scores + i * n_classes;
    double most = score[0], sum = 0;
    for (int64_t c = 1; c < n_classes; ++c) most = std::max(most, score[c]);
    for (int64_t c = 0; c < n_classes; ++c) sum += p[c] = exponential(score[c] - most);
    for (int64_t c = 0; c < n_classes; ++c) p[c] /= sum;
  }
}

}  // namespace skliquid
