// Deep trees with random splits, for forests. The readable version is tests/readable/forest.py.

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "trees/random.hpp"
#include "trees/trees.hpp"

namespace skliquid {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr int64_t many_rows =
    64;  // with this many or more, the mixed splitter tries all thresholds
constexpr int64_t nodes_between_stops = 256;
constexpr int64_t few_rows = 8;  // with this many or fewer, a node passes its classes on

// A split: rows whose bin is in `right` go right.
struct Split {
  int64_t column = -1;
  uint64_t right = 0;
  int64_t threshold = -1;  // bins above go right; -1 in categorical columns
  double score = -1.0;
};

// `fixed` is the number of classes if it is known at compile time, else 0.
template <bool weighted, class Label, int fixed>
class Forest {
  using Count = std::conditional_t<weighted, double, int32_t>;
  // With many classes, few of them are in a node, and no loop runs over all of them.
  static constexpr bool many = std::is_same_v<Label, int32_t>;
  static constexpr bool moves_rows = many && !weighted;  // one by one, not bin by bin

  struct Waiting {  // a node to be visited
    int64_t start, end;
    int64_t n_constant;  // known constant columns, the first in `order`
    uint32_t node;
    int64_t n_shares;  // of its parent, if there are many classes
    double rest;       // probability of its parent that all classes share
  };

  struct Share {  // probability of a class, if there are many
    int32_t label;
    double value;
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
  int32_t first_of_bin[n_bins] = {};
  std::vector<double> probability, waiting_probability;
  std::vector<int32_t> present, by_bin;  // classes of the node, sorted; its labels, by bin
  std::vector<Share> shares, waiting_shares;
  double rest = 0;
  int64_t squares = 0, squares_left = 0, squares_right = 0;  // of class counts, if `moves_rows`
  std::vector<Waiting> waiting;
  double n_total = 0;  // number of rows of the node, or their total weight

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
    if (!many) probability.resize(k);
    if (moves_rows) by_bin.resize(n);
    if (!moves_rows && task.splitter != Splitter::random) histogram.resize(n_bins * k);
  }

  void grow(const Stop& stop, Grown& grown) {
    const std::size_t first = grown.nodes.size();
    int64_t n_visited = 0;
    int64_t n_leaves = 0;
    const std::size_t first_value = grown.values.size();
    const auto n = static_cast<int64_t>(rows.size());
    grown.nodes.push_back({});
    waiting.push_back({0, n, 0, 0, 0, 1.0});
    waiting_probability.assign(probability.size(), 1.0 / static_cast<double>(classes()));
    while (!waiting.empty()) {
      if (++n_visited % nodes_between_stops == 0 && stop()) return;
      const Waiting now = waiting.back();
      waiting.pop_back();
      count(now.start, now.end);
      many ? share(now) : smooth();
      int64_t n_constant = now.n_constant;
      Split split;
      if (!is_pure() && now.end - now.start >= 2 * task.min_leaf) {
        split = search(now.start, now.end, n_constant);
      }
      Node& node = grown.nodes[first + now.node];
      if (split.column < 0) {
        if (many) {
          const auto at = static_cast<uint32_t>((grown.values.size() - first_value) / 2);
          node = {shares.size() + 1, is_leaf, at};
          add_shares(grown.values);
          continue;
        }
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
      const bool passes_on = many && now.end - now.start <= few_rows;
      const int64_t n_shares = passes_on ? static_cast<int64_t>(shares.size()) : 0;
      const double its_rest = passes_on ? rest : 1.0;
      waiting.push_back({middle, now.end, n_constant, next + 1, n_shares, its_rest});
      waiting.push_back({now.start, middle, n_constant, next, n_shares, its_rest});
      for (int twice = 0; twice < 2 && n_shares; ++twice) {
        waiting_shares.insert(waiting_shares.end(), shares.begin(), shares.end());
      }
      for (int twice = 0; twice < 2; ++twice) {
        waiting_probability.insert(waiting_probability.end(), probability.begin(),
                                   probability.end());
      }
    }
    grown.n_nodes.push_back(static_cast<int64_t>(grown.nodes.size() - first));
    grown.n_values.push_back(static_cast<int64_t>(grown.values.size() - first_value));
    grown.n_visits += n;
  }

 private:
  int64_t classes() const { return fixed ? fixed : given_classes; }

  // Call a function with each class that may be in the node, in order.
  template <class Function>
  void for_classes(const Function& function) const {
    if constexpr (many) {
      for (int32_t c : present) function(c);
    } else {
      for (int64_t c = 0; c < classes(); ++c) function(c);
    }
  }

  void count(int64_t start, int64_t end) {
    if constexpr (many) {
      count_present(start, end);
      return;
    }
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

  void count_present(int64_t start, int64_t end) {
    for (int32_t c : present) total[c] = right_count[c] = 0;
    present.clear();
    for (int64_t i = start; i < end; ++i) {
      const auto c = static_cast<int32_t>(labels[i]);
      if (!(total[c] > 0)) present.push_back(c);
      if constexpr (weighted) {
        total[c] += weights[i];
      } else {
        ++total[c];
      }
    }
    std::sort(present.begin(), present.end());
    n_total = 0;
    squares = 0;
    for (int32_t c : present) {
      n_total += static_cast<double>(total[c]);
      if constexpr (moves_rows) squares += int64_t{total[c]} * total[c];
    }
  }

  static int32_t sum_of(const Label* numbers, int64_t n) {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += static_cast<int32_t>(numbers[i]);
    return sum;
  }

  // Compute the class probabilities of the node. The probabilities of its parent count as one more
  // row.
  void smooth() {
    const std::size_t k = probability.size();
    const double* parent = waiting_probability.data() + waiting_probability.size() - k;
    for (std::size_t c = 0; c < k; ++c) {
      probability[c] = (static_cast<double>(total[c]) + parent[c]) / (n_total + 1.0);
    }
    waiting_probability.resize(waiting_probability.size() - k);
  }

  // The same with many classes. Only the classes of the node are listed, and those of its parent if
  // the parent has few rows. All classes share the rest, which includes the probability of a larger
  // parent.
  void share(const Waiting& now) {
    const std::size_t first = waiting_shares.size() - static_cast<std::size_t>(now.n_shares);
    const Share *parent = waiting_shares.data() + first, *end = parent + now.n_shares;
    const double all = n_total + 1.0;
    shares.clear();
    for (int32_t c : present) {
      for (; parent < end && parent->label < c; ++parent) {
        shares.push_back({parent->label, parent->value / all});
      }
      const bool is_known = parent < end && parent->label == c;
      const double known = is_known ? (parent++)->value : 0.0;
      shares.push_back({c, (static_cast<double>(total[c]) + known) / all});
    }
    for (; parent < end; ++parent) shares.push_back({parent->label, parent->value / all});
    rest = now.rest / all;
    waiting_shares.resize(first);
  }

  // Append the pairs of a leaf: a class and its value. The last pair is for all classes.
  void add_shares(std::vector<float>& values) const {
    for (const Share& each : shares) {
      values.push_back(static_cast<float>(each.label));
      values.push_back(static_cast<float>(each.value));
    }
    values.push_back(static_cast<float>(classes()));
    values.push_back(static_cast<float>(rest / static_cast<double>(classes())));
  }

  bool is_pure() const {
    if (many) return present.size() <= 1;
    int n_present = 0;
    for (Count each : total) n_present += each > 0;
    return n_present <= 1;
  }

  // Try columns in random order, until `n_tried` were not constant and one of them can be split.
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

  // Compare splits of a column with the best so far. Return false if the column is constant.
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
        !has_missing) {  // there is one threshold, as for 0 and 1
      judge_threshold(f, start, n, low, has_missing, true, best);
      return true;
    }
    if (looks_at_all(n)) {
      look_at_all(f, start, n, has_missing, best);
      return true;
    }
    const int n_draws = task.splitter == Splitter::random ? 1 : 2;
    for (int k = 0; k < n_draws; ++k) {
      // if all other values are in one bin, the split separates missing values
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
    empty_right();
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

  // Compare a split with the best so far, by Gini impurity. `right_count` has the classes of its
  // right side. Bins that are `absent` from the node go to the side with more rows.
  void judge(int64_t f, int64_t n, int64_t n_right, uint64_t right, int64_t threshold,
             uint64_t absent, Split& best) {
    if (n_right < task.min_leaf || n - n_right < task.min_leaf) return;
    double left = 0, its_right = 0, weight_right = 0;
    for_classes([&](int64_t c) {
      const auto r = static_cast<double>(right_count[c]);
      const double l = static_cast<double>(total[c]) - r;
      left += l * l;
      its_right += r * r;
      weight_right += r;
    });
    compare(f, n, n_right, left, its_right, weight_right, right, threshold, absent, best);
  }

  // The same, after `add_bin` has moved whole bins to the right.
  void judge_bins(int64_t f, int64_t n, int64_t n_right, uint64_t right, int64_t threshold,
                  uint64_t absent, Split& best) {
    if constexpr (!moves_rows) {
      judge(f, n, n_right, right, threshold, absent, best);
      return;
    }
    if (n_right < task.min_leaf || n - n_right < task.min_leaf) return;
    compare(f, n, n_right, static_cast<double>(squares_left), static_cast<double>(squares_right),
            static_cast<double>(n_right), right, threshold, absent, best);
  }

  void compare(int64_t f, int64_t n, int64_t n_right, double left, double its_right,
               double weight_right, uint64_t right, int64_t threshold, uint64_t absent,
               Split& best) const {
    const double weight_left = n_total - weight_right;
    if (!(weight_left > 0) || !(weight_right > 0)) return;
    const double score = left / weight_left + its_right / weight_right;
    if (!(score > best.score)) return;
    right = 2 * n_right > n ? right | absent : right & ~absent;
    best = {f, right, threshold, score};
  }

  void look_at_all(int64_t f, int64_t start, int64_t n, bool has_missing, Split& best) {
    const uint64_t bins_here = fill_histogram(start, n);
    const uint64_t absent = has_missing ? 0 : bit(missing_bin);
    const uint64_t known = bins_here & ~bit(missing_bin);
    for (int missing_to_right = has_missing ? 0 : 1; missing_to_right < 2; ++missing_to_right) {
      // move bins to the right, from the last bin down
      empty_right();
      int64_t n_right = 0;
      uint64_t left = known;
      if (has_missing && missing_to_right) {
        n_right += add_bin(missing_bin);
        judge_bins(f, n, n_right, above(highest(left), true), highest(left), absent, best);
      }
      for (;;) {
        const int64_t moved = highest(left);
        left &= ~bit(moved);
        if (!left) break;
        n_right += add_bin(moved);
        const int64_t threshold = (highest(left) + moved - 1) / 2;  // in the middle of the gap
        judge_bins(f, n, n_right, above(threshold, missing_to_right), threshold, absent, best);
      }
    }
    clear_histogram(bins_here);
  }

  static int64_t highest(uint64_t set) {
    int64_t k = 0;
    for (int64_t step = 32; step > 0; step >>= 1) {
      if (set >> (k + step)) k += step;
    }
    return k;
  }

  void empty_right() {
    for_classes([&](int64_t c) { right_count[c] = Count{0}; });
    squares_left = squares;
    squares_right = 0;
  }

  // Count the rows of each bin and class. Return the set of bins that occur.
  uint64_t fill_histogram(int64_t start, int64_t n) {
    uint64_t present_bins = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t b = bins[i];
      present_bins |= bit(b);
      ++rows_of_bin[b];
      if constexpr (moves_rows) continue;
      Count& cell = histogram[b * classes() + static_cast<int64_t>(labels[start + i])];
      if constexpr (weighted) {
        cell += weights[start + i];
      } else {
        ++cell;
      }
    }
    if constexpr (moves_rows) {
      int32_t next[n_bins], before = 0;
      for (int b = 0; b < n_bins; ++b) {
        first_of_bin[b] = next[b] = before;
        before += rows_of_bin[b];
      }
      for (int64_t i = 0; i < n; ++i)
        by_bin[next[bins[i]]++] = static_cast<int32_t>(labels[start + i]);
    }
    return present_bins;
  }

  void clear_histogram(uint64_t present_bins) {
    for (; present_bins; present_bins &= present_bins - 1) {
      const int64_t b = highest(present_bins & (~present_bins + 1));
      rows_of_bin[b] = 0;
      if constexpr (!moves_rows) {
        for_classes([&](int64_t c) { histogram[b * classes() + c] = Count{0}; });
      }
    }
  }

  // Move the rows of a bin to the right, and return their number.
  int64_t add_bin(int64_t b) {
    if constexpr (moves_rows) {
      const int32_t* own = by_bin.data() + first_of_bin[b];
      for (int32_t k = 0; k < rows_of_bin[b]; ++k) {
        const int64_t r = right_count[own[k]]++, l = total[own[k]] - r;
        squares_right += 2 * r + 1;
        squares_left -= 2 * l - 1;
      }
    } else {
      for_classes([&](int64_t c) { right_count[c] += histogram[b * classes() + c]; });
    }
    return rows_of_bin[b];
  }

  // Return the weight of a class in a bin, and the weight of all classes.
  std::pair<double, double> weights_in(int64_t b, int64_t label) const {
    double of_label = 0, all = 0;
    if constexpr (moves_rows) {
      const int32_t* own = by_bin.data() + first_of_bin[b];
      for (int32_t k = 0; k < rows_of_bin[b]; ++k) of_label += own[k] == label;
      all = rows_of_bin[b];
    } else {
      of_label = static_cast<double>(histogram[b * classes() + label]);
      for_classes([&](int64_t c) { all += static_cast<double>(histogram[b * classes() + c]); });
    }
    return {of_label, all};
  }

  // Try splits of a categorical column: random sets of bins, or all splits of the bins sorted by
  // the share of the most frequent class.
  void look_at_sets(int64_t f, int64_t start, int64_t n, Split& best) {
    const uint64_t bins_here = fill_bins(n);
    if (!looks_at_all(n)) {
      const int n_draws = task.splitter == Splitter::random ? 1 : 2;
      for (int k = 0; k < n_draws; ++k) {
        uint64_t right = random.next() & bins_here;
        if (right == 0 || right == bins_here) right = bins_here & (~bins_here + 1);
        for (int64_t i = 0; i < n; ++i) side[i] = (right >> bins[i]) & 1;
        judge_sides(f, start, n, right, -1, ~bins_here, best);
      }
      return;
    }
    fill_histogram(start, n);
    int64_t most = many ? present[0] : 0;
    for_classes([&](int64_t c) { most = total[c] > total[most] ? c : most; });
    int ordered[n_bins];
    double share_of[n_bins];
    int n_present = 0;
    for (int b = 0; b < n_bins; ++b) {
      if (!(bins_here & bit(b))) continue;
      const auto [of_most, all] = weights_in(b, most);
      share_of[b] = of_most / all;
      ordered[n_present++] = b;
    }
    sort_bins(ordered, n_present, share_of);
    empty_right();
    int64_t n_right = 0;
    uint64_t right = 0;
    for (int k = 0; k + 1 < n_present; ++k) {
      n_right += add_bin(ordered[k]);
      right |= bit(ordered[k]);
      judge_bins(f, n, n_right, right, -1, ~bins_here, best);
    }
    clear_histogram(bins_here);
  }

  // Try splits of a one-hot column: one feature against all others.
  void look_at_members(int64_t f, int64_t start, int64_t n, Split& best) {
    const uint64_t ones = fill_bins(n) & ~bit(0), absent = bit(missing_bin);
    if (looks_at_all(n)) {
      const uint64_t counted = fill_histogram(start, n);
      for (uint64_t left = ones; left; left &= left - 1) {
        const int64_t b = highest(left & (~left + 1));
        empty_right();
        const int64_t n_right = add_bin(b);
        judge_bins(f, n, n_right, bit(b), b, absent, best);
      }
      clear_histogram(counted);
      return;
    }
    int64_t n_present = 0;
    for (uint64_t left = ones; left; left &= left - 1) ++n_present;
    const int n_draws = task.splitter == Splitter::random ? 1 : 2;
    for (int k = 0; k < n_draws; ++k) {
      uint64_t left = ones;
      for (int64_t skipped = random.below(n_present); skipped > 0; --skipped) left &= left - 1;
      const int64_t b = highest(left & (~left + 1));
      for (int64_t i = 0; i < n; ++i) side[i] = bins[i] == b;
      judge_sides(f, start, n, bit(b), b, absent, best);
    }
  }

  uint64_t fill_bins(int64_t n) const {
    uint64_t bins_here = 0;
    for (int64_t i = 0; i < n; ++i) bins_here |= bit(bins[i]);
    return bins_here;
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
  } else if (labels.n_classes <= most_dense_classes) {
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
