// What the tree kernels take and give: binned columns, tasks, nodes. Plain data.
//
// Trees grow on bins and predict from the rows themselves. Column f has at most 62 edges; the bin
// of x is the number of edges below x, so that `x > edges[t]` is the same as `bin > t`. A missing
// value has the last bin. A categorical column holds its bins as numbers from 0 to 62.

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

// A node of a tree. The left child is at `next`, the right one beside it, both counted from the
// root. A leaf has the number of its values there. `cut` is a threshold, above which rows go right,
// or for a categorical column the set of bins that go right, one bit each. Leaves of a forest with
// more than `most_dense_classes` hold pairs, of an output and its value; the output behind the last
// stands for all of them. There `cut` is the number of pairs, and `next` the first.
struct Node {
  std::uint64_t cut;
  std::uint32_t feature;  // and flags
  std::uint32_t next;
};

constexpr std::uint32_t is_leaf = 1u << 31;
constexpr std::uint32_t is_categorical = 1u << 30;
constexpr std::uint32_t missing_goes_right = 1u << 29;
constexpr std::uint32_t feature_bits = missing_goes_right - 1;

// What a column of bins holds: a number; a category; or the ones of several features that hold 0
// and 1, at most one of them 1 in a row, as after one-hot encoding: bin k is the k-th of these
// features, and bin 0 is none.
enum class Holds : std::uint8_t { numbers, categories, ones };

struct Columns {
  const std::uint8_t* bins;  // one row per column
  std::int64_t n_rows;
  std::int64_t n_columns;
  const double* edges;           // `most_edges` per column; those behind the last are infinite
  const std::uint8_t* kinds;     // what each column holds
  const std::int32_t* features;  // `n_bins` per column; null: each is the feature of its number

  const std::uint8_t* column(std::int64_t f) const { return bins + f * n_rows; }
  Holds holds(std::int64_t f) const { return static_cast<Holds>(kinds[f]); }

  // The feature that a column stands for, or if it stands for several the one of a bin.
  std::uint32_t feature(std::int64_t f, std::int64_t bin = 0) const {
    return static_cast<std::uint32_t>(features ? features[f * n_bins + bin] : f);
  }
};

// The number of bins of a column, without that of missing values.
inline int n_used_bins(const Columns& columns, std::int64_t f) {
  const double* edges = columns.edges + f * most_edges;
  int n = 0;
  while (n < most_edges && edges[n] < std::numeric_limits<double>::infinity()) ++n;
  return n + 1;
}

// The edge above a bin, which rows must pass to be in a later one.
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

// The node that splits column f: above a threshold, by a set of categories (threshold -1), or by
// one of several ones (the threshold is its bin). Bins in `right` go right.
inline Node node_of(const Columns& columns, std::int64_t f, std::int64_t threshold,
                    std::uint64_t right, std::uint32_t next) {
  const bool is_member = columns.holds(f) == Holds::ones;
  std::uint32_t feature = columns.feature(f, is_member ? threshold : 0);
  if (right & bit(missing_bin)) feature |= missing_goes_right;
  if (is_member) return {bits_of(0.5), feature, next};
  if (threshold < 0) return {right, feature | is_categorical, next};
  return {bits_of(edge_above(columns, f, threshold)), feature, next};
}

// How a forest searches for a split: one random threshold per column; all thresholds; all from 64
// rows on, and two random ones below.
enum class Splitter : std::int64_t { random, best, mixed };

struct ForestTask {
  std::uint64_t seed;
  std::int64_t n_drawn;  // rows, at random without replacement
  std::int64_t n_tried;  // columns per split
  std::int64_t min_leaf;
  Splitter splitter;
  const double* weights;  // null: all are one
};

struct BoostingTask {
  std::uint64_t seed;
  std::int64_t n_trees;
  std::int64_t n_window;   // rows that all trees draw theirs from
  std::int64_t n_drawn;    // rows per tree
  std::int64_t n_columns;  // columns per tree
  std::int64_t depth;
  double rate;
  double penalty;  // on leaf values, l2
  double min_hessian;
  const double* base;     // scores before the first tree, one per output
  const double* scores;   // scores of all rows, or null: `base`
  const double* weights;  // null: all are one
};

// Labels are classes from 0. With two classes boosting has one output, the log-odds of the second.
struct Labels {
  const std::int32_t* each;
  std::int64_t n_classes;
  std::int64_t n_outputs() const { return n_classes == 2 ? 1 : n_classes; }
};

// Trees one after the other: where each begins, and its values.
struct Grown {
  std::vector<Node> nodes;
  std::vector<float> values;
  std::vector<std::int64_t> n_nodes, n_values;  // per tree
  std::int64_t n_visits = 0;                    // rows that trees were grown on, over all trees
};

// Whether to stop early: another thread has failed, or the user has pressed Ctrl-C. Only the first
// thread can `ask` about the latter.
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
// itself, so that rows can walk on side by side until the last has arrived.
struct Step {
  double cut;  // infinite in a leaf
  std::uint32_t feature;
  std::uint32_t next;
};

// The trees of a voter, one after the other: where each begins, and its values.
struct Trees {
  std::vector<Node> nodes;
  std::vector<Step> steps;  // one for each node
  std::vector<float> values;
  std::int64_t n_outputs;
  bool is_sparse;                           // leaves hold pairs
  std::vector<std::int64_t> roots, leaves;  // where the nodes and values of each tree begin

  // How many numbers `next` of a leaf counts as one.
  std::int64_t n_per_leaf() const { return is_sparse ? 2 : n_outputs; }
  std::vector<std::int64_t> depths;  // -1 with categorical splits
};

// Add up the values of all trees for `n_rows` rows.
void add_up(const Trees&, const double* X, std::int64_t n_rows, std::int64_t width,
            bool has_missing, double* sums);
void add_up(const Trees&, const float* X, std::int64_t n_rows, std::int64_t width, bool has_missing,
            double* sums);

// Put numbers into bins: `X` has one row per sample, `bins` one per column.
void find_bins(const double* X, std::int64_t n_rows, std::int64_t width, const double* edges,
               std::uint8_t* bins, std::int64_t first_column, std::int64_t end_column);
void find_bins(const float* X, std::int64_t n_rows, std::int64_t width, const double* edges,
               std::uint8_t* bins, std::int64_t first_column, std::int64_t end_column);

// Replace scores by class probabilities.
void to_probabilities(const double* scores, std::int64_t n_rows, std::int64_t n_classes,
                      double* probabilities);

}  // namespace skliquid
