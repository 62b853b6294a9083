// Deep trees with random splits, as in a forest. The readable twin is voters/reference/forest.py.

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "random.hpp"
#include "trees.hpp"

namespace skliquid {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr int64_t many_rows = 64;  // from which on the mixed splitter looks at all thresholds
constexpr int64_t nodes_between_stops = 256;

// A split: rows whose bin is in `right` go right.
struct Split {
  int64_t column = -1;
  uint64_t right = 0;
  int64_t threshold = -1;  // bins above go right; -1 in categorical columns
  double score = -1.0;
};

// `fixed` is the number of classes where it is known when this is compiled, else 0.
template <bool weighted, class Label, int fixed>
class Forest {
  using Count = std::conditional_t<weighted, double, int32_t>;

  struct Waiting {  // a node that was not visited yet
    int64_t start, end;
    int64_t n_constant;  // columns that are known to be constant: the first in `order`
    uint32_t node;
  };

  const ForestTask& task;
  const int64_t given_classes, n_columns;
  Columns columns;
  Random random;
  std::vector<uint8_t> copied;
  std::vector<int32_t> rows, rows_right, order;
  std::vector<Label> labels, labels_right;
  std::vector<double> weights, weights_right;
  std::vector<uint8_t> bins, side;
  std::vector<Count> total, right_count, histogram;  // the histogram is zero between uses
  int32_t rows_of_bin[n_bins] = {};
  std::vector<double> probability, waiting_probability;
  std::vector<Waiting> waiting;
  double n_total = 0;  // rows of the node, or their weight

 public:
  Forest(const Columns& all, const Labels& all_labels, const ForestTask& task_)
      : task(task_),
        given_classes(all_labels.n_classes),
        n_columns(all.n_columns),
        columns(all),
        random(task_.seed) {
    std::vector<int32_t> drawn;
    drawn.reserve(static_cast<std::size_t>(task.n_drawn));
    draw_rows(
        random, all.n_rows, task.n_drawn,
        [&](int64_t i) {
          if (!weighted || task.weights[i] > 0) drawn.push_back(static_cast<int32_t>(i));
        },
        [](int64_t) {});
    const std::size_t n = drawn.size();
    labels.resize(n);
    for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<Label>(all_labels.each[drawn[i]]);
    if (weighted) {
      weights.resize(n);
      for (std::size_t i = 0; i < n; ++i) weights[i] = task.weights[drawn[i]];
      weights_right.resize(n);
    }
    rows.resize(n);
    for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<int32_t>(i);
    if (static_cast<int64_t>(n) < all.n_rows) {
      copied.resize(n * static_cast<std::size_t>(n_columns));
      for (int64_t f = 0; f < n_columns; ++f) {
        const uint8_t* from = all.column(f);
        uint8_t* to = copied.data() + f * static_cast<int64_t>(n);
        for (std::size_t i = 0; i < n; ++i) to[i] = from[drawn[i]];
      }
      columns.bins = copied.data();
      columns.n_rows = static_cast<int64_t>(n);
    }
    order.resize(static_cast<std::size_t>(n_columns));
    for (int64_t f = 0; f < n_columns; ++f)
      order[static_cast<std::size_t>(f)] = static_cast<int32_t>(f);
    rows_right.resize(n);
    labels_right.resize(n);
    bins.resize(n);
    side.resize(n);
    const auto k = static_cast<std::size_t>(classes());
    total.resize(k);
    right_count.resize(k);
    probability.resize(k);
    if (task.splitter != Splitter::random) histogram.resize(n_bins * k);
  }

  void grow(const Stop& stop, Grown& grown) {
    const std::size_t first = grown.nodes.size();
    int64_t n_visited = 0;
    int64_t n_leaves = 0;
    const auto n = static_cast<int64_t>(rows.size());
    grown.nodes.push_back({});
    waiting.push_back({0, n, 0, 0});
    waiting_probability.assign(probability.size(), 1.0 / static_cast<double>(classes()));
    while (!waiting.empty()) {
      if (++n_visited % nodes_between_stops == 0 && stop()) return;
      const Waiting now = waiting.back();
      waiting.pop_back();
      count(now.start, now.end);
      smooth();
      int64_t n_constant = now.n_constant;
      Split split;
      if (!is_pure() && now.end - now.start >= 2 * task.min_leaf) {
        split = search(now.start, now.end, n_constant);
      }
      Node& node = grown.nodes[first + now.node];
      if (split.column < 0) {
        node = {0, is_leaf, static_cast<uint32_t>(n_leaves++)};
        for (double p : probability) grown.values.push_back(static_cast<float>(p));
        continue;
      }
      const auto next = static_cast<uint32_t>(grown.nodes.size() - first);
      node = node_of(columns, split.column, split.threshold, split.right, next);
      grown.nodes.push_back({});
      grown.nodes.push_back({});
      const int64_t middle = partition(now.start, now.end, split);
      // the left child is visited first
      waiting.push_back({middle, now.end, n_constant, next + 1});
      waiting.push_back({now.start, middle, n_constant, next});
      for (int twice = 0; twice < 2; ++twice) {
        waiting_probability.insert(waiting_probability.end(), probability.begin(),
                                   probability.end());
      }
    }
    grown.n_nodes.push_back(static_cast<int64_t>(grown.nodes.size() - first));
    grown.n_leaves.push_back(n_leaves);
    grown.n_visits += n;
  }

 private:
  int64_t classes() const { return fixed ? fixed : given_classes; }

  void count(int64_t start, int64_t end) {
    std::fill(total.begin(), total.end(), Count{0});
    n_total = 0;
    if constexpr (weighted) {
      for (int64_t i = start; i < end; ++i) total[labels[i]] += weights[i];
      for (double each : total) n_total += each;
    } else {
      if (classes() == 2) {
        total[1] = sum_of(labels.data() + start, end - start);
        total[0] = static_cast<int32_t>(end - start) - total[1];
      } else {
        for (int64_t i = start; i < end; ++i) ++total[labels[i]];
      }
      n_total = static_cast<double>(end - start);
    }
  }

  static int32_t sum_of(const Label* numbers, int64_t n) {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += static_cast<int32_t>(numbers[i]);
    return sum;
  }

  // Class probabilities of the node: its counts, and those of its parent as one more row.
  void smooth() {
    const std::size_t k = probability.size();
    const double* parent = waiting_probability.data() + waiting_probability.size() - k;
    for (std::size_t c = 0; c < k; ++c) {
      probability[c] = (static_cast<double>(total[c]) + parent[c]) / (n_total + 1.0);
    }
    waiting_probability.resize(waiting_probability.size() - k);
  }

  bool is_pure() const {
    int n_present = 0;
    for (Count each : total) n_present += each > 0;
    return n_present <= 1;
  }

  // Look at columns in random order until enough were not constant and one of them can be split.
  Split search(int64_t start, int64_t end, int64_t& n_constant) {
    Split best;
    int64_t n_seen = 0;
    for (int64_t at = n_constant; at < n_columns; ++at) {
      if (n_seen >= task.n_tried && best.column >= 0) break;
      std::swap(order[at], order[at + random.below(n_columns - at)]);
      const int64_t f = order[at];
      if (!look_at(f, start, end, best)) {
        std::swap(order[at], order[n_constant]);
        ++n_constant;
      } else {
        ++n_seen;
      }
    }
    return best;
  }

  // Compare splits of a column with the best so far; return false if it is constant.
  bool look_at(int64_t f, int64_t start, int64_t end, Split& best) {
    const uint8_t* column = columns.column(f);
    const int64_t n = end - start;
    const int32_t* at = rows.data() + start;
    uint8_t low = missing_bin, high = 0;
    for (int64_t i = 0; i < n; ++i) {
      const uint8_t b = column[at[i]];
      bins[i] = b;
      low = std::min(low, b);
      high = std::max(high, b);
    }
    if (low == high) return false;
    const bool has_missing = high == missing_bin;
    if (columns.holds(f) == Holds::ones) {
      look_at_members(f, start, n, best);
      return true;
    }
    if (columns.holds(f) == Holds::categories) {
      look_at_sets(f, start, n, best);
      return true;
    }
    if (has_missing) {
      high = 0;
      for (int64_t i = 0; i < n; ++i) high = std::max(high, bins[i] < missing_bin ? bins[i] : low);
    }
    if (looks_at_all(n) && high - low == 1 &&
        !has_missing) {  // there is one threshold, as in one-hot
      judge_threshold(f, start, n, low, has_missing, true, best);
      return true;
    }
    if (looks_at_all(n)) {
      look_at_all(f, start, n, has_missing, best);
      return true;
    }
    const int n_draws = task.splitter == Splitter::random ? 1 : 2;
    for (int k = 0; k < n_draws; ++k) {
      // only missing values differ, or bins do
      const int64_t threshold = low == high ? low : low + random.below(high - low);
      const bool to_right = !has_missing || low == high || (random.next() >> 63) != 0;
      judge_threshold(f, start, n, threshold, has_missing, to_right, best);
    }
    return true;
  }

  static uint64_t above(int64_t threshold, bool missing_to_right) {
    const uint64_t right = ~(bit(threshold + 1) - 1) & ~bit(missing_bin);
    return missing_to_right ? right | bit(missing_bin) : right;
  }

  void judge_threshold(int64_t f, int64_t start, int64_t n, int64_t threshold, bool has_missing,
                       bool missing_to_right, Split& best) {
    const uint64_t right = above(threshold, missing_to_right);
    if (!has_missing) {
      const auto t = static_cast<uint8_t>(threshold);
      for (int64_t i = 0; i < n; ++i) side[i] = bins[i] > t;
    } else {
      for (int64_t i = 0; i < n; ++i) side[i] = (right >> bins[i]) & 1;
    }
    judge_sides(f, start, n, right, threshold, has_missing ? 0 : bit(missing_bin), best);
  }

  void judge_sides(int64_t f, int64_t start, int64_t n, uint64_t right, int64_t threshold,
                   uint64_t absent, Split& best) {
    int32_t n_right = 0;
    if constexpr (!weighted) {
      if (classes() == 2) {
        int32_t both = 0;
        const Label* label = labels.data() + start;
        for (int64_t i = 0; i < n; ++i) {
          n_right += side[i];
          both += side[i] & static_cast<uint8_t>(label[i]);
        }
        right_count[0] = n_right - both;
        right_count[1] = both;
        judge(f, n, n_right, right, threshold, absent, best);
        return;
      }
    }
    std::fill(right_count.begin(), right_count.end(), Count{0});
    for (int64_t i = 0; i < n; ++i) {
      n_right += side[i];
      if constexpr (weighted) {
        right_count[labels[start + i]] += side[i] ? weights[start + i] : 0.0;
      } else {
        right_count[labels[start + i]] += side[i];
      }
    }
    judge(f, n, n_right, right, threshold, absent, best);
  }

  // Compare the split whose right side has `right_count` with the best so far, by Gini impurity.
  // Bins that are `absent` from the node go where most rows go.
  void judge(int64_t f, int64_t n, int64_t n_right, uint64_t right, int64_t threshold,
             uint64_t absent, Split& best) {
    if (n_right < task.min_leaf || n - n_right < task.min_leaf) return;
    double squares_left = 0, squares_right = 0, weight_right = 0;
    for (int64_t c = 0; c < classes(); ++c) {
      const auto r = static_cast<double>(right_count[c]);
      const double l = static_cast<double>(total[c]) - r;
      squares_left += l * l;
      squares_right += r * r;
      weight_right += r;
    }
    const double weight_left = n_total - weight_right;
    if (!(weight_left > 0) || !(weight_right > 0)) return;
    const double score = squares_left / weight_left + squares_right / weight_right;
    if (!(score > best.score)) return;
    right = 2 * n_right > n ? right | absent : right & ~absent;
    best = {f, right, threshold, score};
  }

  void look_at_all(int64_t f, int64_t start, int64_t n, bool has_missing, Split& best) {
    const uint64_t present = fill_histogram(start, n);
    const uint64_t absent = has_missing ? 0 : bit(missing_bin);
    const uint64_t known = present & ~bit(missing_bin);
    for (int missing_to_right = has_missing ? 0 : 1; missing_to_right < 2; ++missing_to_right) {
      // from the last bin down: what lies above the threshold
      std::fill(right_count.begin(), right_count.end(), Count{0});
      int64_t n_right = 0;
      uint64_t left = known;
      if (has_missing && missing_to_right) {
        n_right += add_bin(missing_bin);
        judge(f, n, n_right, above(highest(left), true), highest(left), absent, best);
      }
      for (;;) {
        const int64_t moved = highest(left);
        left &= ~bit(moved);
        if (!left) break;
        n_right += add_bin(moved);
        const int64_t threshold = (highest(left) + moved - 1) / 2;  // in the middle of the gap
        judge(f, n, n_right, above(threshold, missing_to_right), threshold, absent, best);
      }
    }
    clear_histogram(present);
  }

  static int64_t highest(uint64_t set) {
    int64_t k = 0;
    for (int64_t step = 32; step > 0; step >>= 1) {
      if (set >> (k + step)) k += step;
    }
    return k;
  }

  // Count the rows of each bin and class, and return the bins that some row has.
  uint64_t fill_histogram(int64_t start, int64_t n) {
    uint64_t present = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t b = bins[i];
      present |= bit(b);
      ++rows_of_bin[b];
      Count& cell = histogram[b * classes() + static_cast<int64_t>(labels[start + i])];
      if constexpr (weighted) {
        cell += weights[start + i];
      } else {
        ++cell;
      }
    }
    return present;
  }

  void clear_histogram(uint64_t present) {
    for (; present; present &= present - 1) {
      const int64_t b = highest(present & (~present + 1));
      rows_of_bin[b] = 0;
      for (int64_t c = 0; c < classes(); ++c) histogram[b * classes() + c] = Count{0};
    }
  }

  int64_t add_bin(int64_t b) {
    for (int64_t c = 0; c < classes(); ++c) right_count[c] += histogram[b * classes() + c];
    return rows_of_bin[b];
  }

  // Splits of a categorical column: a random set of bins, or sets in the order of the share of the
  // most frequent class.
  void look_at_sets(int64_t f, int64_t start, int64_t n, Split& best) {
    const uint64_t present = fill_bins(n);
    if (!looks_at_all(n)) {
      const int n_draws = task.splitter == Splitter::random ? 1 : 2;
      for (int k = 0; k < n_draws; ++k) {
        uint64_t right = random.next() & present;
        if (right == 0 || right == present) right = present & (~present + 1);
        for (int64_t i = 0; i < n; ++i) side[i] = (right >> bins[i]) & 1;
        judge_sides(f, start, n, right, -1, ~present, best);
      }
      return;
    }
    fill_histogram(start, n);
    int64_t most = 0;
    for (int64_t c = 1; c < classes(); ++c) most = total[c] > total[most] ? c : most;
    int ordered[n_bins];
    double share[n_bins];
    int n_present = 0;
    for (int b = 0; b < n_bins; ++b) {
      if (!(present & bit(b))) continue;
      double sum = 0;
      for (int64_t c = 0; c < classes(); ++c)
        sum += static_cast<double>(histogram[b * classes() + c]);
      share[b] = static_cast<double>(histogram[b * classes() + most]) / sum;
      ordered[n_present++] = b;
    }
    std::stable_sort(ordered, ordered + n_present,
                     [&](int a, int b) { return share[a] < share[b]; });
    std::fill(right_count.begin(), right_count.end(), Count{0});
    int64_t n_right = 0;
    uint64_t right = 0;
    for (int k = 0; k + 1 < n_present; ++k) {
      n_right += add_bin(ordered[k]);
      right |= bit(ordered[k]);
      judge(f, n, n_right, right, -1, ~present, best);
    }
    clear_histogram(present);
  }

  // Splits of a column of ones: one feature against all others.
  void look_at_members(int64_t f, int64_t start, int64_t n, Split& best) {
    const uint64_t present = fill_bins(n) & ~bit(0), absent = bit(missing_bin);
    if (looks_at_all(n)) {
      const uint64_t counted = fill_histogram(start, n);
      for (uint64_t left = present; left; left &= left - 1) {
        const int64_t b = highest(left & (~left + 1));
        std::fill(right_count.begin(), right_count.end(), Count{0});
        judge(f, n, add_bin(b), bit(b), b, absent, best);
      }
      clear_histogram(counted);
      return;
    }
    int64_t n_present = 0;
    for (uint64_t left = present; left; left &= left - 1) ++n_present;
    const int n_draws = task.splitter == Splitter::random ? 1 : 2;
    for (int k = 0; k < n_draws; ++k) {
      uint64_t left = present;
      for (int64_t skipped = random.below(n_present); skipped > 0; --skipped) left &= left - 1;
      const int64_t b = highest(left & (~left + 1));
      for (int64_t i = 0; i < n; ++i) side[i] = bins[i] == b;
      judge_sides(f, start, n, bit(b), b, absent, best);
    }
  }

  uint64_t fill_bins(int64_t n) const {
    uint64_t present = 0;
    for (int64_t i = 0; i < n; ++i) present |= bit(bins[i]);
    return present;
  }

  bool looks_at_all(int64_t n) const {
    return task.splitter == Splitter::best || (task.splitter == Splitter::mixed && n >= many_rows);
  }

  int64_t partition(int64_t start, int64_t end, const Split& split) {
    const uint8_t* column = columns.column(split.column);
    int64_t n_left = start, n_right = 0;
    for (int64_t i = start; i < end; ++i) {
      const int32_t row = rows[i];
      const bool goes_right = (split.right >> column[row]) & 1;
      const Label label = labels[i];
      rows[n_left] = row;
      labels[n_left] = label;
      rows_right[n_right] = row;
      labels_right[n_right] = label;
      if constexpr (weighted) {
        const double weight = weights[i];
        weights[n_left] = weight;
        weights_right[n_right] = weight;
      }
      n_left += !goes_right;
      n_right += goes_right;
    }
    std::memcpy(rows.data() + n_left, rows_right.data(),
                static_cast<std::size_t>(n_right) * sizeof(int32_t));
    std::memcpy(labels.data() + n_left, labels_right.data(),
                static_cast<std::size_t>(n_right) * sizeof(Label));
    if constexpr (weighted) {
      std::memcpy(weights.data() + n_left, weights_right.data(),
                  static_cast<std::size_t>(n_right) * sizeof(double));
    }
    return n_left;
  }
};

template <bool weighted>
void grow_one(const Columns& columns, const Labels& labels, const ForestTask& task,
              const Stop& stop, Grown& grown) {
  if (labels.n_classes == 2) {
    Forest<weighted, uint8_t, 2>(columns, labels, task).grow(stop, grown);
  } else if (labels.n_classes <= 256) {
    Forest<weighted, uint8_t, 0>(columns, labels, task).grow(stop, grown);
  } else {
    Forest<weighted, int32_t, 0>(columns, labels, task).grow(stop, grown);
  }
}

}  // namespace

void grow_tree(const Columns& columns, const Labels& labels, const ForestTask& task,
               const Stop& stop, Grown& grown) {
  if (task.weights) {
    grow_one<true>(columns, labels, task, stop, grown);
  } else {
    grow_one<false>(columns, labels, task, stop, grown);
  }
}

}  // namespace skliquid
