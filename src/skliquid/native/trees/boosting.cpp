// Gradient boosting: small trees, each grown on the gradients of the loss after the previous ones.
// The readable version is tests/readable/boosting.py.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "trees/exponential.hpp"
#include "trees/random.hpp"
#include "trees/trees.hpp"

namespace skliquid {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr int most_gradients = 5;  // with more classes, splits use random sums of gradients
constexpr double least_gain = 1e-6;
constexpr int quantum_bits = 30;

struct Split {
  int64_t column = -1;     // position among the columns of the tree
  int64_t threshold = -1;  // -1 in categorical columns
  uint64_t right = 0;      // bins that go right
  double gain = least_gain;
};

// `size` numbers per row: gradients, and the hessian last.
template <int size>
class Sequence {
  static constexpr int n_gradients = size - 1;
  using Sums = double[size];

  const BoostingTask& task;
  const int64_t n_classes, n_outputs;
  Columns columns;
  Random random;
  std::vector<uint8_t> copied;
  std::vector<int32_t> labels;
  std::vector<double> weights;
  std::vector<double> scores;    // one row per sample
  std::vector<int32_t> window;   // the rows that trees sample from
  std::vector<float> gradients;  // of the rows of the tree, in the order of `rows`
  std::vector<float> gradients_right;
  std::vector<int32_t> rows, rows_right, left_out, chosen, places, places_right;
  std::vector<double> probability;              // of the drawn rows, with several classes
  std::vector<std::vector<double>> histograms;  // one for each level
  std::vector<double> leaf_sums;
  std::vector<int32_t> n_used;  // bins per column, without the missing one
  double quantum = 0, shift = 0, least_hessian = 0;

  struct Tree {
    std::vector<Node> nodes;
    std::vector<uint64_t> right;  // bins that go right, per node
    std::vector<int32_t> column;  // per node
    std::vector<float> values;
  } tree;

 public:
  Sequence(const Columns& all, const Labels& all_labels, const BoostingTask& task_)
      : task(task_),
        n_classes(all_labels.n_classes),
        n_outputs(all_labels.n_outputs()),
        columns(all),
        random(task_.seed) {
    window.reserve(static_cast<std::size_t>(task.n_window));
    draw_rows(
        random, all.n_rows, task.n_window,
        [&](int64_t i) {
          if (!task.weights || task.weights[i] > 0) window.push_back(static_cast<int32_t>(i));
        },
        [](int64_t) {});
    const std::size_t n = window.size();
    labels.resize(n);
    scores.resize(n * static_cast<std::size_t>(n_outputs));
    if (task.weights) weights.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const int64_t row = window[i];
      labels[i] = all_labels.each[row];
      if (task.weights) weights[i] = task.weights[row];
      const double* from = task.scores ? task.scores + row * n_outputs : task.base;
      std::copy(from, from + n_outputs, scores.begin() + static_cast<int64_t>(i) * n_outputs);
    }
    if (static_cast<int64_t>(n) < all.n_rows) {
      copied.resize(n * static_cast<std::size_t>(all.n_columns));
      for (int64_t f = 0; f < all.n_columns; ++f) {
        const uint8_t* from = all.column(f);
        uint8_t* to = copied.data() + f * static_cast<int64_t>(n);
        for (std::size_t i = 0; i < n; ++i) to[i] = from[window[i]];
      }
      columns.bins = copied.data();
      columns.n_rows = static_cast<int64_t>(n);
    }
    n_used.resize(static_cast<std::size_t>(all.n_columns));
    for (int64_t f = 0; f < all.n_columns; ++f) n_used[f] = n_used_bins(all, f);
    histograms.resize(static_cast<std::size_t>(task.depth) + 1);
    const auto room = static_cast<std::size_t>(task.n_columns * n_bins * size);
    for (auto& each : histograms) each.resize(room);
    int exponent = 1;  // no weight is above 2**exponent
    if (task.weights && n > 0)
      std::frexp(*std::max_element(weights.begin(), weights.end()), &exponent);
    quantum = std::ldexp(1.0, exponent - quantum_bits);
    shift = 1.5 * std::ldexp(quantum, 52);
    least_hessian = std::max(task.min_hessian, quantum);  // at least one row
  }

  void grow(const Stop& stop, Grown& grown) {
    for (int64_t k = 0; k < task.n_trees && !stop(); ++k) {
      draw();
      find_gradients();
      grow_tree();
      add_to_scores();
      grown.nodes.insert(grown.nodes.end(), tree.nodes.begin(), tree.nodes.end());
      grown.values.insert(grown.values.end(), tree.values.begin(), tree.values.end());
      grown.n_nodes.push_back(static_cast<int64_t>(tree.nodes.size()));
      grown.n_values.push_back(static_cast<int64_t>(tree.values.size()));
      grown.n_visits += static_cast<int64_t>(rows.size());
    }
    if (!task.scores) return;
    for (std::size_t i = 0; i < window.size(); ++i) {
      const double* own = scores.data() + static_cast<int64_t>(i) * n_outputs;
      std::copy(own, own + n_outputs, task.scores + window[i] * n_outputs);
    }
  }

 private:
  // Draw the rows and columns of the next tree.
  void draw() {
    rows.clear();
    left_out.clear();
    const int64_t n = columns.n_rows;
    draw_rows(
        random, n, std::min(task.n_drawn, n),
        [&](int64_t i) { rows.push_back(static_cast<int32_t>(i)); },
        [&](int64_t i) { left_out.push_back(static_cast<int32_t>(i)); });
    chosen.clear();
    draw_rows(
        random, columns.n_columns, task.n_columns,
        [&](int64_t f) { chosen.push_back(static_cast<int32_t>(f)); }, [](int64_t) {});
    rows_right.resize(rows.size());
    gradients.resize(rows.size() * size);
    gradients_right.resize(rows.size() * size);
    if (n_outputs > 1) {
      places.resize(rows.size());
      places_right.resize(rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) places[i] = static_cast<int32_t>(i);
    }
  }

  // Round a gradient to a multiple of `quantum`, so that sums of 2**22 gradients are exact. They do
  // not depend on the order, and a bin is exactly zero after all its rows are subtracted.
  float rounded(double gradient) const { return static_cast<float>((gradient + shift) - shift); }

  // The hessian of a row is never zero, so that a sum of hessians shows whether there are rows.
  float rounded_hessian(double hessian) const { return rounded(std::max(hessian, quantum)); }

  void find_gradients() {
    const auto n = static_cast<int64_t>(rows.size());
    if (n_outputs == 1) {
      for (int64_t i = 0; i < n; ++i) {
        const double p = 1.0 / (1.0 + exponential(-scores[rows[i]]));
        const double w = task.weights ? weights[rows[i]] : 1.0;
        gradients[2 * i] = rounded(w * (p - labels[rows[i]]));
        gradients[2 * i + 1] = rounded_hessian(w * (p * (1.0 - p)));
      }
      return;
    }
    const bool is_sketch = n_classes > most_gradients;
    std::vector<double> signs;  // of random sums, class by class
    if (is_sketch) {
      signs.resize(static_cast<std::size_t>(n_gradients * n_classes));
      for (int j = 0; j < n_gradients; ++j) {
        for (int64_t c = 0; c < n_classes; ++c) {
          signs[c * n_gradients + j] = (random.next() >> 63) ? 1.0 : -1.0;
        }
      }
    }
    probability.resize(static_cast<std::size_t>(n * n_classes));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = rows[i];
      double* p = probability.data() + i * n_classes;
      softmax(scores.data() + row * n_classes, p);
      const double w = task.weights ? weights[row] : 1.0;
      double hessian = 0;
      for (int64_t c = 0; c < n_classes; ++c) hessian += p[c] * (1.0 - p[c]);
      p[labels[row]] -= 1.0;  // from here on these are gradients
      float* own = gradients.data() + i * size;
      own[n_gradients] = rounded_hessian(w * (hessian / static_cast<double>(n_classes)));
      double sums[n_gradients] = {};
      for (int64_t c = 0; c < n_classes; ++c) {
        for (int j = 0; j < n_gradients; ++j) {
          if (is_sketch) {
            sums[j] += signs[c * n_gradients + j] * p[c];
          } else if (j == c) {
            sums[j] = p[c];
          }
        }
      }
      for (int j = 0; j < n_gradients; ++j) own[j] = rounded(w * sums[j]);
    }
  }

  void softmax(const double* score, double* p) const {
    double most = score[0], sum = 0;
    for (int64_t c = 1; c < n_classes; ++c) most = std::max(most, score[c]);
    for (int64_t c = 0; c < n_classes; ++c) {
      p[c] = exponential(score[c] - most);
      sum += p[c];
    }
    for (int64_t c = 0; c < n_classes; ++c) p[c] /= sum;
  }

  double* histogram(int64_t level, int64_t column) {
    return histograms[at(level)].data() + column * n_bins * size;
  }

  // Sum gradients over the rows of a node, per bin. Four columns at a time: consecutive rows often
  // have the same bin, and each addition waits for the previous one.
  void fill_histogram(int64_t level, int64_t start, int64_t end) {
    const auto n_columns = static_cast<int64_t>(chosen.size());
    for (int64_t k = 0; k < n_columns; ++k) {
      double* sums = histogram(level, k);
      std::fill(sums, sums + n_used[chosen[k]] * size, 0.0);
      std::fill(sums + missing_bin * size, sums + n_bins * size, 0.0);
    }
    int64_t k = 0;
    for (; k + 4 <= n_columns; k += 4) add_columns<4>(level, k, start, end);
    if (n_columns - k == 3) add_columns<3>(level, k, start, end);
    if (n_columns - k == 2) add_columns<2>(level, k, start, end);
    if (n_columns - k == 1) add_columns<1>(level, k, start, end);
  }

  template <int at_once>
  void add_columns(int64_t level, int64_t k, int64_t start, int64_t end) {
    const uint8_t* column[at_once];
    double* sums[at_once];
    for (int c = 0; c < at_once; ++c) {
      column[c] = columns.column(chosen[k + c]);
      sums[c] = histogram(level, k + c);
    }
    const float* g = gradients.data() + start * size;
    const int32_t* row = rows.data();
    for (int64_t i = start; i < end; ++i, g += size) {
      double own[size];
      for (int j = 0; j < size; ++j) own[j] = static_cast<double>(g[j]);
      for (int c = 0; c < at_once; ++c) {
        double* cell = sums[c] + column[c][row[i]] * size;
        for (int j = 0; j < size; ++j) cell[j] += own[j];
      }
    }
  }

  // Grow the tree depth-first. The histogram of a node of level d is `histograms[d]`. The histogram
  // of its smaller child is summed over rows, that of the larger child is the difference.
  void grow_tree() {
    tree.nodes.assign(1, {});
    tree.right.assign(1, 0);
    tree.column.assign(1, 0);
    tree.values.clear();
    fill_histogram(0, 0, static_cast<int64_t>(rows.size()));
    grow_node(0, 0, static_cast<int64_t>(rows.size()), 0);
  }

  void grow_node(uint32_t node, int64_t start, int64_t end, int64_t level) {
    const Split split = level < task.depth ? search(level, start, end) : Split{};
    if (split.column < 0) {
      make_leaf(node, start, end);
      return;
    }
    const auto next = static_cast<uint32_t>(tree.nodes.size());
    tree.nodes.resize(next + 2);
    tree.right.resize(next + 2);
    tree.column.resize(next + 2);
    tree.nodes[node] = node_of(columns, chosen[split.column], split.threshold, split.right, next);
    tree.right[node] = split.right;
    tree.column[node] = chosen[split.column];
    const int64_t middle = partition(start, end, split);
    const bool left_is_smaller = middle - start <= end - middle;
    // the smaller child first: it does not use the histogram that the larger one needs
    const bool are_leaves = level + 1 == task.depth;
    if (!are_leaves) {
      if (left_is_smaller) {
        fill_histogram(level + 1, start, middle);
      } else {
        fill_histogram(level + 1, middle, end);
      }
      take_off(level);
    }
    const uint32_t smaller = left_is_smaller ? next : next + 1;
    const uint32_t larger = left_is_smaller ? next + 1 : next;
    grow_node(smaller, left_is_smaller ? start : middle, left_is_smaller ? middle : end, level + 1);
    if (!are_leaves) std::swap(histograms[at(level)], histograms[at(level + 1)]);
    grow_node(larger, left_is_smaller ? middle : start, left_is_smaller ? end : middle, level + 1);
  }

  static std::size_t at(int64_t level) { return static_cast<std::size_t>(level); }

  // Subtract the histogram of the next level from that of this level.
  void take_off(int64_t level) {
    const auto n_columns = static_cast<int64_t>(chosen.size());
    for (int64_t k = 0; k < n_columns; ++k) {
      double* mine = histogram(level, k);
      const double* its = histogram(level + 1, k);
      for (int i = 0; i < n_used[chosen[k]] * size; ++i) mine[i] -= its[i];
      for (int i = missing_bin * size; i < n_bins * size; ++i) mine[i] -= its[i];
    }
  }

  static double squares_of(const double* sums) {
    double squares = 0;
    for (int j = 0; j < n_gradients; ++j) squares += sums[j] * sums[j];
    return squares;
  }

  // Return the gain of both sides of a split: two quotients with one division. It is 0 if the
  // hessian of a side is too small.
  double gain_of(double squares_left, double h_left, double squares_right, double h_right) const {
    const double d_left = h_left + task.penalty, d_right = h_right + task.penalty;
    const double gain = (squares_left * d_right + squares_right * d_left) / (d_left * d_right);
    return h_left < least_hessian || h_right < least_hessian ? 0.0 : gain;
  }

  Split search(int64_t level, int64_t start, int64_t end) {
    Split best;
    const auto n_columns = static_cast<int64_t>(chosen.size());
    Sums total = {};
    const double* first = histogram(level, 0);
    for (int b = 0; b < n_bins; ++b) {
      if (b == n_used[chosen[0]]) b = missing_bin;
      for (int j = 0; j < size; ++j) total[j] += first[b * size + j];
    }
    if (total[n_gradients] < 2 * task.min_hessian || end - start < 2) return best;
    const double before = squares_of(total) / (total[n_gradients] + task.penalty);
    for (int64_t k = 0; k < n_columns; ++k) {
      const double* sums = histogram(level, k);
      switch (columns.holds(chosen[k])) {
        case Holds::numbers:
          look_at_thresholds(k, sums, total, before, best);
          break;
        case Holds::categories:
          look_at_sets(k, sums, total, before, best);
          break;
        case Holds::ones:
          look_at_members(k, sums, total, before, best);
          break;
      }
    }
    return best;
  }

  // Try all thresholds of a column, with missing values on the right and on the left.
  void look_at_thresholds(int64_t k, const double* sums, const Sums& total, double before,
                          Split& best) {
    const double* missing = sums + missing_bin * size;
    const bool has_missing = missing[n_gradients] > 0;
    const int n = n_used[chosen[k]];
    for (int missing_to_right = 1; missing_to_right >= (has_missing ? 0 : 1); --missing_to_right) {
      double left[size][n_bins];
      Sums sum = {};
      for (int j = 0; j < size; ++j) sum[j] = missing_to_right ? 0.0 : missing[j];
      for (int b = 0; b < n; ++b) {
        for (int j = 0; j < size; ++j) {
          sum[j] += sums[b * size + j];
          left[j][b] = sum[j];
        }
      }
      double gains[n_bins];
      for (int b = 0; b < n; ++b) {
        double squares_left = 0, squares_right = 0;
        for (int j = 0; j < n_gradients; ++j) {
          const double l = left[j][b], r = total[j] - l;
          squares_left += l * l;
          squares_right += r * r;
        }
        const double h_left = left[n_gradients][b], h_right = total[n_gradients] - h_left;
        gains[b] = gain_of(squares_left, h_left, squares_right, h_right) - before;
      }
      for (int b = 0; b < n; ++b) {
        if (!(gains[b] > best.gain)) continue;
        best.gain = gains[b];
        best.column = k;
        best.threshold = b;
        const bool to_right =
            has_missing ? missing_to_right
                        : 2 * left[n_gradients][b] < total[n_gradients];  // the side with more rows
        best.right = ~(bit(b + 1) - 1) & ~bit(missing_bin);
        if (to_right) best.right |= bit(missing_bin);
      }
    }
  }

  // Try sets of categories, sorted by their mean gradient, or by the first of several gradients.
  void look_at_sets(int64_t k, const double* sums, const Sums& total, double before, Split& best) {
    int ordered[n_bins];
    double mean[n_bins];
    int n_present = 0;
    uint64_t present = 0;
    for (int b = 0; b < n_bins; ++b) {
      if (b == n_used[chosen[k]]) b = missing_bin;
      const double h = sums[b * size + n_gradients];
      if (!(h > 0)) continue;
      mean[b] = sums[b * size] / (h + task.penalty);
      ordered[n_present++] = b;
      present |= bit(b);
    }
    sort_bins(ordered, n_present, mean);
    Sums right = {}, left;
    uint64_t set = 0;
    for (int at = 0; at + 1 < n_present; ++at) {
      for (int j = 0; j < size; ++j) {
        right[j] += sums[ordered[at] * size + j];
        left[j] = total[j] - right[j];
      }
      set |= bit(ordered[at]);
      const double gain =
          gain_of(squares_of(left), left[n_gradients], squares_of(right), right[n_gradients]) -
          before;
      if (!(gain > best.gain)) continue;
      best.gain = gain;
      best.column = k;
      best.threshold = -1;
      best.right = right[n_gradients] > left[n_gradients] ? set | ~present : set;
    }
  }

  // Try each feature of a one-hot column against all others.
  void look_at_members(int64_t k, const double* sums, const Sums& total, double before,
                       Split& best) {
    for (int b = 1; b < n_used[chosen[k]]; ++b) {
      const double* right = sums + b * size;
      Sums left;
      for (int j = 0; j < size; ++j) left[j] = total[j] - right[j];
      const double gain =
          gain_of(squares_of(left), left[n_gradients], squares_of(right), right[n_gradients]) -
          before;
      if (!(gain > best.gain)) continue;
      best.gain = gain;
      best.column = k;
      best.threshold = b;
      best.right = right[n_gradients] > left[n_gradients] ? bit(b) | bit(missing_bin) : bit(b);
    }
  }

  int64_t partition(int64_t start, int64_t end, const Split& split) {
    const uint8_t* column = columns.column(chosen[split.column]);
    int64_t n_left = start, n_right = 0;
    const bool has_places = n_outputs > 1;
    for (int64_t i = start; i < end; ++i) {
      const int32_t row = rows[i];
      const bool goes_right = (split.right >> column[row]) & 1;
      float g[size];
      std::memcpy(g, gradients.data() + i * size, sizeof g);
      std::memcpy(gradients.data() + n_left * size, g, sizeof g);
      std::memcpy(gradients_right.data() + n_right * size, g, sizeof g);
      rows[n_left] = row;
      rows_right[n_right] = row;
      if (has_places) {
        const int32_t place = places[i];
        places[n_left] = place;
        places_right[n_right] = place;
      }
      n_left += !goes_right;
      n_right += goes_right;
    }
    const auto n = static_cast<std::size_t>(n_right);
    std::memcpy(rows.data() + n_left, rows_right.data(), n * sizeof(int32_t));
    std::memcpy(gradients.data() + n_left * size, gradients_right.data(), n * size * sizeof(float));
    if (has_places) std::memcpy(places.data() + n_left, places_right.data(), n * sizeof(int32_t));
    return n_left;
  }

  // Make a leaf with a Newton step for each output, and update the scores of its rows.
  void make_leaf(uint32_t node, int64_t start, int64_t end) {
    const int64_t n_leaves = static_cast<int64_t>(tree.values.size()) / n_outputs;
    tree.nodes[node] = {0, is_leaf, static_cast<uint32_t>(n_leaves)};
    leaf_sums.assign(static_cast<std::size_t>(2 * n_outputs), 0.0);
    double *g = leaf_sums.data(), *h = g + n_outputs;
    if (n_outputs == 1) {
      for (int64_t i = start; i < end; ++i) {
        g[0] += static_cast<double>(gradients[2 * i]);
        h[0] += static_cast<double>(gradients[2 * i + 1]);
      }
    } else {
      for (int64_t i = start; i < end; ++i) {
        const double* own = probability.data() + static_cast<int64_t>(places[i]) * n_classes;
        const double w = task.weights ? weights[rows[i]] : 1.0;
        const int64_t label = labels[rows[i]];
        for (int64_t c = 0; c < n_classes; ++c) {
          const double p = c == label ? own[c] + 1.0 : own[c];
          g[c] += w * own[c];
          h[c] += w * (p * (1.0 - p));
        }
      }
    }
    for (int64_t c = 0; c < n_outputs; ++c) {
      tree.values.push_back(static_cast<float>(-task.rate * g[c] / (h[c] + task.penalty)));
    }
    const float* value = tree.values.data() + n_leaves * n_outputs;
    for (int64_t i = start; i < end; ++i) {
      double* score = scores.data() + static_cast<int64_t>(rows[i]) * n_outputs;
      for (int64_t c = 0; c < n_outputs; ++c) score[c] += static_cast<double>(value[c]);
    }
  }

  // Update the scores of the rows that the tree was not grown on, eight at a time.
  void add_to_scores() {
    constexpr int64_t at_once = 8;
    const auto n = static_cast<int64_t>(left_out.size());
    for (int64_t start = 0; start < n; start += at_once) {
      const int64_t m = std::min(at_once, n - start);
      uint32_t at[at_once] = {};
      for (int64_t level = 0; level < task.depth; ++level) {
        for (int64_t i = 0; i < m; ++i) {
          const Node& node = tree.nodes[at[i]];
          const uint8_t b = columns.column(tree.column[at[i]])[left_out[start + i]];
          const auto goes_right = static_cast<uint32_t>((tree.right[at[i]] >> b) & 1);
          at[i] = node.feature & is_leaf ? at[i] : node.next + goes_right;
        }
      }
      for (int64_t i = 0; i < m; ++i) {
        const float* value =
            tree.values.data() + static_cast<int64_t>(tree.nodes[at[i]].next) * n_outputs;
        double* score = scores.data() + static_cast<int64_t>(left_out[start + i]) * n_outputs;
        for (int64_t c = 0; c < n_outputs; ++c) score[c] += static_cast<double>(value[c]);
      }
    }
  }
};

}  // namespace

void grow_sequence(const Columns& columns, const Labels& labels, const BoostingTask& task,
                   const Stop& stop, Grown& grown) {
  switch (labels.n_classes) {
    case 2:
      return Sequence<2>(columns, labels, task).grow(stop, grown);
    case 3:
      return Sequence<4>(columns, labels, task).grow(stop, grown);
    case 4:
      return Sequence<5>(columns, labels, task).grow(stop, grown);
    default:
      return Sequence<1 + most_gradients>(columns, labels, task).grow(stop, grown);
  }
}

}  // namespace skliquid
