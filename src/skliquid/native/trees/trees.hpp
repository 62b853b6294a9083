// Arguments and results of the tree kernels: binned columns, tasks, nodes.
//
// Trees grow on bins, and predict from the values of rows. A column has at most 62 edges. The bin
// of x is the number of edges below x, so that `x > edges[t]` is the same as `bin > t`. Missing
// values are in the last bin. The values of a categorical column are its bins, as numbers from 0 to
// 62.

#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace skliquid {

constexpr int n_bins = 64;
constexpr int missing_bin = 63;
constexpr int most_edges = 62;
constexpr std::int64_t most_dense_classes = 256;

// A node of a tree. The left child is at `next`, the right child at `next + 1`, both counted from
// the root. Rows above the threshold `cut` go right. For a categorical column, `cut` is the set of
// bins that go right, one bit per bin. In a leaf, `next` is the index of its values.
//
// With more than `most_dense_classes` classes, the values of a leaf of a forest are pairs: an
// output and its value. The output `n_outputs` stands for all outputs. In such a leaf, `cut` is the
// number of pairs, and `next` the index of the first pair.
struct Node {
  std::uint64_t cut;
  std::uint32_t feature;  // and flags
  std::uint32_t next;
};

constexpr std::uint32_t is_leaf = 1u << 31;
constexpr std::uint32_t is_categorical = 1u << 30;
constexpr std::uint32_t missing_goes_right = 1u << 29;
constexpr std::uint32_t feature_bits = missing_goes_right - 1;

// The content of a binned column: numbers, categories, or several one-hot encoded features. In a
// row, at most one of these features is 1, and the others are 0. Bin k means that the k-th feature
// is 1, and bin 0 that none is.
enum class Holds : std::uint8_t { numbers, categories, ones };

struct Columns {
  const std::uint8_t* bins;  // one row per column
  std::int64_t n_rows;
  std::int64_t n_columns;
  const double* edges;           // `most_edges` per column; unused ones are infinite
  const std::uint8_t* kinds;     // content of each column, see `Holds`
  const std::int32_t* features;  // `n_bins` per column; null: column f is feature f

  const std::uint8_t* column(std::int64_t f) const { return bins + f * n_rows; }
  Holds holds(std::int64_t f) const { return static_cast<Holds>(kinds[f]); }

  // Return the feature of a column, or in a one-hot column the feature of a bin.
  std::uint32_t feature(std::int64_t f, std::int64_t bin = 0) const {
    return static_cast<std::uint32_t>(features ? features[f * n_bins + bin] : f);
  }
};

// Return the number of bins of a column, without the bin of missing values.
inline int n_used_bins(const Columns& columns, std::int64_t f) {
  const double* edges = columns.edges + f * most_edges;
  int n = 0;
  while (n < most_edges && edges[n] < std::numeric_limits<double>::infinity()) ++n;
  return n + 1;
}

// Sort a few bins by their keys. Bins with equal keys stay in order. For so few, insertion is
// faster than std::stable_sort, which allocates memory.
inline void sort_bins(int* bins, int n, const double* key) {
  for (int i = 1; i < n; ++i) {
    const int bin = bins[i];
    int at = i;
    for (; at > 0 && key[bin] < key[bins[at - 1]]; --at) bins[at] = bins[at - 1];
    bins[at] = bin;
  }
}

// Return the upper edge of a bin. Larger values are in later bins.
inline double edge_above(const Columns& columns, std::int64_t f, std::int64_t bin) {
  return bin < most_edges ? columns.edges[f * most_edges + bin]
                          : std::numeric_limits<double>::infinity();
}

inline std::uint64_t bits_of(double cut) {
  std::uint64_t bits;
  std::memcpy(&bits, &cut, sizeof bits);
  return bits;
}

constexpr std::uint64_t bit(std::int64_t k) { return std::uint64_t{1} << k; }

// Return the node that splits column f: at a threshold, by a set of categories (`threshold` is -1),
// or by one feature of a one-hot column (`threshold` is its bin). Bins in `right` go right.
inline Node node_of(const Columns& columns, std::int64_t f, std::int64_t threshold,
                    std::uint64_t right, std::uint32_t next) {
  const bool is_member = columns.holds(f) == Holds::ones;
  std::uint32_t feature = columns.feature(f, is_member ? threshold : 0);
  if (right & bit(missing_bin)) feature |= missing_goes_right;
  if (is_member) return {bits_of(0.5), feature, next};
  if (threshold < 0) return {right, feature | is_categorical, next};
  return {bits_of(edge_above(columns, f, threshold)), feature, next};
}

// How a forest searches for a split. `random`: one random threshold per column. `best`: all
// thresholds. `mixed`: all thresholds in nodes of 64 rows or more, two random ones in smaller
// nodes.
enum class Splitter : std::int64_t { random, best, mixed };

struct ForestTask {
  std::uint64_t seed;
  std::int64_t n_drawn;  // rows, drawn without replacement
  std::int64_t n_tried;  // columns per split
  std::int64_t min_leaf;
  Splitter splitter;
  const double* weights;  // null: all are one
};

struct BoostingTask {
  std::uint64_t seed;
  std::int64_t n_trees;
  std::int64_t n_window;   // rows that all trees sample from
  std::int64_t n_drawn;    // rows per tree
  std::int64_t n_columns;  // columns per tree
  std::int64_t depth;
  double rate;
  double penalty;  // on leaf values, l2
  double min_hessian;
  const double* base;     // scores before the first tree, one per output
  double* scores;         // scores of all rows, before and after these trees; null: `base`
  const double* weights;  // null: all are one
};

// Class labels, counted from 0. With two classes, boosting has one output: the log-odds of the
// second class.
struct Labels {
  const std::int32_t* each;
  std::int64_t n_classes;
  std::int64_t n_outputs() const { return n_classes == 2 ? 1 : n_classes; }
};

// Grown trees, concatenated.
struct Grown {
  std::vector<Node> nodes;
  std::vector<float> values;
  std::vector<std::int64_t> n_nodes, n_values;  // per tree
  std::int64_t n_visits = 0;                    // training rows, summed over trees
};

// Whether to stop early, because another thread has failed or the user has pressed Ctrl-C. Only the
// first thread can `ask` for Ctrl-C.
struct Stop {
  std::atomic<bool>& flag;
  bool (*ask)();

  bool operator()() const {
    if (ask && ask()) flag.store(true);
    return flag.load(std::memory_order_relaxed);
  }
};

void grow_tree(const Columns&, const Labels&, const ForestTask&, const Stop&, Grown&);
void grow_sequence(const Columns&, const Labels&, const BoostingTask&, const Stop&, Grown&);

// A node for rows without missing values and trees without categorical splits. A leaf leads to
// itself, so that several rows can descend side by side until the last one arrives.
struct Step {
  double cut;  // infinite in a leaf
  std::uint32_t feature;
  std::uint32_t next;
};

// The same for all rows and trees. A row goes right if its number is above the cut, or if the bit
// of its category, or of missing values, is in the set.
struct Fork {
  double cut;  // infinite for sets of categories, and in a leaf
  std::uint64_t set;
  std::uint32_t feature;
  std::uint32_t next;
};

// The trees of a voter, concatenated.
struct Trees {
  std::vector<Node> nodes;
  std::vector<Step> steps;  // one for each node
  std::vector<Fork> forks;  // one for each node
  std::vector<float> values;
  std::int64_t n_outputs;
  bool is_sparse;                           // leaves have pairs
  std::vector<std::int64_t> roots, leaves;  // first node and first leaf of each tree

  // The unit of `next` in a leaf, in numbers.
  std::int64_t n_per_leaf() const { return is_sparse ? 2 : n_outputs; }
  std::vector<std::int64_t> depths;
  std::vector<std::uint32_t> set_columns;  // columns that are split by sets of categories
};

// Add the leaf values of all trees to the sums of `n_rows` rows.
void add_up(const Trees&, const double* X, std::int64_t n_rows, std::int64_t width,
            bool has_missing, double* sums);
void add_up(const Trees&, const float* X, std::int64_t n_rows, std::int64_t width, bool has_missing,
            double* sums);

// Find the bins of numbers. `X` has one row per sample, `bins` one row per column.
void find_bins(const double* X, std::int64_t n_rows, std::int64_t width, const double* edges,
               std::uint8_t* bins, std::int64_t first_column, std::int64_t end_column);
void find_bins(const float* X, std::int64_t n_rows, std::int64_t width, const double* edges,
               std::uint8_t* bins, std::int64_t first_column, std::int64_t end_column);

// Convert scores to class probabilities.
void to_probabilities(const double* scores, std::int64_t n_rows, std::int64_t n_classes,
                      double* probabilities);

}  // namespace skliquid
