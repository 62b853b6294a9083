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

// Return a bit per number: of its category, or of the missing bin, or none for other numbers.
template <class Number>
void find_masks(const Trees& trees, const Number* X, int64_t n_rows, int64_t width,
                uint64_t* masks) {
  constexpr uint64_t missing = uint64_t{1} << missing_bin;
  for (int64_t i = 0; i < n_rows * width; ++i) masks[i] = X[i] != X[i] ? missing : 0;
  for (const uint32_t column : trees.set_columns) {
    for (int64_t i = column; i < n_rows * width; i += width) {
      const bool is_code = X[i] >= 0 && X[i] < missing_bin;  // unknown ones count as missing
      masks[i] = is_code ? uint64_t{1} << static_cast<int>(X[i]) : missing;
    }
  }
}

// Descend a tree with several rows side by side. A row that has reached its leaf stays there.
template <class Number>
void descend(const Fork* tree, int64_t depth, const Number* X, const uint64_t* masks, int64_t n,
             int64_t width, uint32_t* at) {
  std::fill(at, at + rows_at_once, 0u);
  for (int64_t level = 0; level < depth; ++level) {
    uint32_t moved = 0;
    for (int64_t i = 0; i < n; ++i) {
      const Fork fork = tree[at[i]];
      const auto x = static_cast<double>(X[i * width + fork.feature]);
      const uint64_t mask = masks[i * width + fork.feature];
      const uint32_t next = fork.next + ((x > fork.cut) | ((fork.set & mask) != 0));
      moved |= next ^ at[i];
      at[i] = next;
    }
    if (!moved) break;
  }
}

// The same for exactly `rows_at_once` rows without missing values, and trees without categorical
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
  const bool is_simple = !has_missing && trees.set_columns.empty();
  std::vector<uint64_t> masks;
  if (!is_simple || n_rows % rows_at_once) {
    masks.resize(static_cast<std::size_t>(n_rows * width));
    find_masks(trees, X, n_rows, width, masks.data());
  }
  for (std::size_t t = 0; t < trees.roots.size(); ++t) {
    const Node* tree = trees.nodes.data() + trees.roots[t];
    const Step* steps = trees.steps.data() + trees.roots[t];
    const Fork* forks = trees.forks.data() + trees.roots[t];
    const float* values = trees.values.data() + trees.leaves[t] * trees.n_per_leaf();
    for (int64_t start = 0; start < n_rows; start += rows_at_once) {
      const int64_t n = std::min(rows_at_once, n_rows - start);
      const Number* own = X + start * width;
      if (is_simple && n == rows_at_once) {
        stride(steps, trees.depths[t], own, width, at);
      } else {
        descend(forks, trees.depths[t], own, masks.data() + start * width, n, width, at);
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
