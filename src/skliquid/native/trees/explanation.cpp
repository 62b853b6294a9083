#include "trees/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

namespace skliquid {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

constexpr int64_t R = rows_explained;

std::size_t size(int64_t n) { return static_cast<std::size_t>(n); }

// Find whether each number goes right at a node: 1, or 0.
template <class Mask>
void go_right(const Node& node, const double* x, int64_t n, Mask* right) {
  const bool missing_right = node.feature & missing_goes_right;
  if (node.feature & is_categorical) {
    const uint64_t set = (node.cut & ~bit(missing_bin)) | (missing_right ? bit(missing_bin) : 0);
    for (int64_t i = 0; i < n; ++i) {
      const bool is_code = x[i] >= 0 && x[i] < missing_bin;  // unknown ones count as missing
      right[i] = static_cast<Mask>(set >> (is_code ? static_cast<int>(x[i]) : missing_bin) & 1);
    }
    return;
  }
  double cut;
  std::memcpy(&cut, &node.cut, sizeof cut);
  for (int64_t i = 0; i < n; ++i) {
    right[i] = static_cast<Mask>((x[i] > cut) | (missing_right & (x[i] != x[i])));
  }
}

// Visit the nodes of a tree: `enter(level, node)` on the way down, where children are on the next
// level, and `leave(level, node)` on the way up. It ends early if `enter` returns false.
template <class Enter, class Leave>
bool walk(const Node* tree, const Enter& enter, const Leave& leave) {
  struct Place {
    uint32_t node;
    uint32_t n_done;
  };
  std::vector<Place> path{{0, 0}};
  if (!enter(0, uint32_t{0}, uint32_t{0})) return false;
  while (!path.empty()) {
    Place& here = path.back();
    const auto level = static_cast<int64_t>(path.size()) - 1;
    if (here.n_done == 2 || (tree[here.node].feature & is_leaf)) {
      leave(level, here.node);
      path.pop_back();
      continue;
    }
    const uint32_t above = here.node, child = tree[above].next + here.n_done++;
    path.push_back({child, 0});
    if (!enter(level + 1, child, above)) return false;
  }
  return true;
}

// Find the values of a leaf, for `n` outputs from `first` on.
void find_values(const Trees& trees, std::size_t t, const Node& leaf, int64_t first, int64_t n,
                 double* found) {
  const float* values = trees.values.data() + trees.leaves[t] * trees.n_per_leaf();
  if (!trees.is_sparse) {
    values += static_cast<int64_t>(leaf.next) * trees.n_outputs + first;
    std::copy(values, values + n, found);
    return;
  }
  std::fill(found, found + n, 0.0);
  const float* pair = values + static_cast<int64_t>(leaf.next) * 2;
  for (uint64_t j = 0; j < leaf.cut; ++j, pair += 2) {
    const auto output = static_cast<int64_t>(pair[0]);
    for (int64_t c = 0; c < n; ++c) {
      const bool is_own = output == first + c || output == trees.n_outputs;
      if (is_own) found[c] += static_cast<double>(pair[1]);
    }
  }
}

// How the product of a leaf, and the Shapley value of a player, change at a node. In a row, the
// player has satisfied its conditions before the node or not (`was`), and satisfies all down to the
// node or not (`is`); `is` implies `was`.
struct Change {
  double factor[3], part[3];

  // `q` is the share of the background that satisfies the conditions, before the node `q_before`
  Change() = default;
  Change(double t, double weight, double q_before, double q) {
    const double u = 1 - t, before = t + u * q_before, after = t + u * q;
    const double lost = weight * (1 - q_before) / before;
    factor[0] = q_before > 0 ? q / q_before : 0.0;
    factor[1] = u * q / before - factor[0];
    factor[2] = (after - u * q) / before;
    part[0] = 0;
    part[1] = -weight / u - lost;
    part[2] = weight * (1 - q) / after + weight / u;
  }
  static double select(const double* by_case, double was, double is) {
    return by_case[0] + was * by_case[1] + is * by_case[2];
  }
};

// Arrays for the nodes on the path to the current one, by level.
struct Path {
  int64_t n_points, n_outputs;
  std::vector<double> is_satisfied;  // by the rows
  std::vector<double> share;         // of the background
  std::vector<double> product;       // at each point, of the factors so far
  std::vector<double> sum;           // over leaves below, for each output
  std::vector<Change> change;

  Path(int64_t depth, int64_t n_points_, int64_t n_outputs_)
      : n_points(n_points_), n_outputs(n_outputs_) {
    const int64_t n = depth + 1;
    is_satisfied.resize(size(n * R));
    share.resize(size(n));
    product.resize(size(n * n_points * R));
    sum.resize(size(n * n_outputs * n_points * R));
    change.resize(size(n * n_points));
    std::fill_n(is_satisfied.begin(), R, 1.0);
    std::fill_n(product.begin(), n_points * R, 1.0);
    share[0] = 1.0;
  }
  double* satisfied(int64_t level) { return is_satisfied.data() + level * R; }
  double* products(int64_t level) { return product.data() + level * n_points * R; }
  double* sums(int64_t level, int64_t output) {
    return sum.data() + (level * n_outputs + output) * n_points * R;
  }
  Change* changes(int64_t level) { return change.data() + level * n_points; }
};

// Find the part that leaves below a node have in the Shapley values of a player.
void add_parts(const Change* changes, int64_t n_points, const double* was, const double* is,
               const double* numbers, double* found) {
  for (int64_t i = 0; i < n_points; ++i) {
    const double* part = changes[i].part;
    for (int64_t r = 0; r < R; ++r) {
      found[r] += Change::select(part, was[r], is[r]) * numbers[i * R + r];
    }
  }
}

// Find the Shapley values for `n_outputs` outputs, from `first` on. `X` has one row per column.
void explain_tree(const Trees& trees, std::size_t t, const Players& players, const Shares& shares,
                  const Quadratures& quadratures, const double* X, int64_t first, int64_t n_outputs,
                  double* found) {
  const int64_t root = trees.roots[t], n_points = shares.n_points[t];
  const Node* tree = trees.nodes.data() + root;
  const uint32_t* level_above = shares.level_above.data() + root;
  const double *points = quadratures.points(n_points), *weights = quadratures.weights(n_points);
  Path path(trees.depths[t], n_points, n_outputs);
  std::vector<uint32_t> above(size(trees.depths[t] + 1));
  double values[outputs_explained];
  const auto enter = [&](int64_t level, uint32_t node, uint32_t parent) {
    if (!(tree[node].feature & is_leaf)) {
      std::fill_n(path.sums(level, 0), n_outputs * n_points * R, 0.0);
    }
    if (level == 0) return true;
    above[size(level)] = parent;
    const double q = path.share[size(level)] = shares.share[size(root + node)];
    const int64_t before = level_above[node];
    const double *was = path.satisfied(before), *product = path.products(level - 1);
    double *is = path.satisfied(level), *next = path.products(level);
    go_right(tree[parent], X + static_cast<int64_t>(tree[parent].feature & feature_bits) * R, R,
             is);
    const bool is_left = node == tree[parent].next;
    for (int64_t r = 0; r < R; ++r) is[r] = was[r] * (is_left ? 1 - is[r] : is[r]);
    for (int64_t i = 0; i < n_points; ++i) {
      const Change change(points[i], weights[i], path.share[size(before)], q);
      path.changes(level)[i] = change;
      for (int64_t r = 0; r < R; ++r) {
        next[i * R + r] = product[i * R + r] * Change::select(change.factor, was[r], is[r]);
      }
    }
    return true;
  };
  const auto leave = [&](int64_t level, uint32_t node) {
    if (level == 0) return;
    const Change* changes = path.changes(level);
    const double *was = path.satisfied(level_above[node]), *is = path.satisfied(level);
    const uint32_t column = tree[above[size(level)]].feature & feature_bits;
    double* own = found + players.of_column[column] * n_outputs * R;
    if (!(tree[node].feature & is_leaf)) {
      for (int64_t c = 0; c < n_outputs; ++c) {
        add_parts(changes, n_points, was, is, path.sums(level, c), own + c * R);
      }
      const double* sums = path.sums(level, 0);
      double* to = path.sums(level - 1, 0);
      for (int64_t k = 0; k < n_outputs * n_points * R; ++k) to[k] += sums[k];
      return;
    }
    find_values(trees, t, tree[node], first, n_outputs, values);
    double parts[R] = {};
    const double* product = path.products(level);
    add_parts(changes, n_points, was, is, product, parts);
    for (int64_t c = 0; c < n_outputs; ++c) {
      double* to = path.sums(level - 1, c);
      for (int64_t r = 0; r < R; ++r) own[c * R + r] += values[c] * parts[r];
      for (int64_t k = 0; k < n_points * R; ++k) to[k] += values[c] * product[k];
    }
  };
  walk(tree, enter, leave);
}

// Copy rows to one row per column. Missing rows are zero.
std::vector<double> by_column(const double* X, int64_t n_rows, int64_t width) {
  std::vector<double> columns(size(width * R));
  for (int64_t i = 0; i < n_rows; ++i) {
    for (int64_t f = 0; f < width; ++f) columns[size(f * R + i)] = X[i * width + f];
  }
  return columns;
}

int64_t points_for(int64_t n_players) {
  return std::clamp((n_players + 1) / 2, int64_t{1}, most_points);
}

}  // namespace

bool find_shares(const Trees& trees, const Players& players, const double* columns,
                 int64_t n_background, Shares& found) {
  const auto n = static_cast<double>(n_background);
  std::vector<uint32_t> last_level(size(players.n)), above;
  std::vector<std::vector<uint8_t>> are_satisfied;
  std::vector<double> shares, reached, values(size(trees.n_outputs));
  std::vector<bool> is_visited(trees.nodes.size());
  found.share.assign(trees.nodes.size(), 1.0);
  found.level_above.assign(trees.nodes.size(), 0);
  found.expected.assign(size(trees.n_outputs), 0.0);
  for (std::size_t t = 0; t < trees.roots.size(); ++t) {
    const int64_t root = trees.roots[t];
    const Node* tree = trees.nodes.data() + root;
    int64_t n_players = 0, most_players = 1;
    const auto enter = [&](int64_t level, uint32_t node, uint32_t parent) {
      const std::size_t at = size(root + node), l = size(level);
      if (is_visited[at]) return false;
      is_visited[at] = true;
      if (are_satisfied.size() <= l) {
        are_satisfied.emplace_back(size(n_background), uint8_t{1});
        above.push_back(0), shares.push_back(1.0), reached.push_back(1.0);
      }
      if (level == 0) return true;
      above[l] = parent;
      const uint32_t column = tree[parent].feature & feature_bits;
      uint32_t& last = last_level[size(players.of_column[column])];
      const uint8_t* was = are_satisfied[last].data();
      uint8_t* is = are_satisfied[l].data();
      go_right(tree[parent], columns + column * n_background, n_background, is);
      const auto flip = static_cast<uint8_t>(node == tree[parent].next);
      int64_t n_satisfied = 0;
      for (int64_t i = 0; i < n_background; ++i) {
        is[i] = static_cast<uint8_t>((is[i] ^ flip) & was[i]);
        n_satisfied += is[i];
      }
      const double share = static_cast<double>(n_satisfied) / n, before = shares[last];
      found.share[at] = shares[l] = share;
      found.level_above[at] = last;
      reached[l] = before > 0 ? reached[l - 1] * (share / before) : 0.0;
      if (last == 0) most_players = std::max(most_players, ++n_players);
      last = static_cast<uint32_t>(level);
      return true;
    };
    const auto leave = [&](int64_t level, uint32_t node) {
      if (tree[node].feature & is_leaf) {
        find_values(trees, t, tree[node], 0, trees.n_outputs, values.data());
        for (std::size_t c = 0; c < values.size(); ++c) {
          found.expected[c] += values[c] * reached[size(level)];
        }
      }
      if (level == 0) return;
      const uint32_t last = found.level_above[size(root + node)];
      const uint32_t column = tree[above[size(level)]].feature & feature_bits;
      last_level[size(players.of_column[column])] = last;
      if (last == 0) --n_players;
    };
    if (!walk(tree, enter, leave)) return false;
    found.n_points.push_back(points_for(most_players));
  }
  return true;
}

void explain_rows(const Trees& trees, const Players& players, const Shares& shares,
                  const Quadratures& quadratures, const double* X, int64_t n_rows, int64_t width,
                  double* values) {
  const std::vector<double> columns = by_column(X, n_rows, width);
  std::vector<double> found(size(players.n * outputs_explained * R));
  const int64_t n_all = trees.n_outputs;
  for (int64_t first = 0; first < n_all; first += outputs_explained) {
    const int64_t n = std::min(outputs_explained, n_all - first);
    std::fill(found.begin(), found.end(), 0.0);
    for (std::size_t t = 0; t < trees.roots.size(); ++t) {
      explain_tree(trees, t, players, shares, quadratures, columns.data(), first, n, found.data());
    }
    for (int64_t i = 0; i < n_rows; ++i) {
      for (int64_t p = 0; p < players.n; ++p) {
        double* own = values + (i * players.n + p) * n_all + first;
        for (int64_t c = 0; c < n; ++c) own[c] = found[size((p * n + c) * R + i)];
      }
    }
  }
}

void find_means(Waves& waves, const Players& players, const double* background,
                int64_t n_background) {
  waves.means.assign(size(waves.n_waves * players.n * 2), 0.0);
  std::vector<double> angles(size(players.n));
  for (int64_t k = 0; k < waves.n_waves; ++k) {
    double* mean = waves.means.data() + k * players.n * 2;
    const double* direction = waves.directions + k * waves.width;
    for (int64_t i = 0; i < n_background; ++i) {
      std::fill(angles.begin(), angles.end(), 0.0);
      for (int64_t f = 0; f < waves.width; ++f) {
        angles[size(players.of_column[f])] += direction[f] * background[i * waves.width + f];
      }
      for (int64_t p = 0; p < players.n; ++p) {
        mean[2 * p] += std::cos(angles[size(p)]);
        mean[2 * p + 1] += std::sin(angles[size(p)]);
      }
    }
    for (int64_t p = 0; p < 2 * players.n; ++p) mean[p] /= static_cast<double>(n_background);
  }
}

double expected_wave(const Waves& waves, const Players& players, int64_t wave) {
  const double* mean = waves.means.data() + wave * players.n * 2;
  std::complex<double> product = std::polar(1.0, waves.offsets[wave]);
  for (int64_t p = 0; p < players.n; ++p) product *= std::complex(mean[2 * p], mean[2 * p + 1]);
  return product.real();
}

void explain_waves(const Waves& waves, const Players& players, const Quadratures& quadratures,
                   const double* X, int64_t n_rows, double* values) {
  const int64_t n = players.n, n_points = points_for(n);
  const double *points = quadratures.points(n_points), *weights = quadratures.weights(n_points);
  const std::vector<double> columns = by_column(X, n_rows, waves.width);
  // by player and row: the angle, the factor of the row, the product of the factors before
  std::vector<double> angle(size(n * R)), re(size(n * R)), im(size(n * R)), found(size(n * R));
  std::vector<double> before_re(size((n + 1) * R)), before_im(size((n + 1) * R));
  for (int64_t k = 0; k < waves.n_waves; ++k) {
    const double* mean = waves.means.data() + k * n * 2;
    std::fill(angle.begin(), angle.end(), 0.0);
    std::fill(found.begin(), found.end(), 0.0);
    for (int64_t f = 0; f < waves.width; ++f) {
      double* own = angle.data() + players.of_column[f] * R;
      const double direction = waves.directions[k * waves.width + f];
      for (int64_t r = 0; r < R; ++r) own[r] += direction * columns[size(f * R + r)];
    }
    for (std::size_t at = 0; at < angle.size(); ++at) {
      re[at] = std::cos(angle[at]);
      im[at] = std::sin(angle[at]);
    }
    for (int64_t i = 0; i < n_points; ++i) {
      const double t = points[i], u = 1 - t;
      std::fill_n(before_re.begin(), R, std::cos(waves.offsets[k]));
      std::fill_n(before_im.begin(), R, std::sin(waves.offsets[k]));
      for (int64_t p = 0; p < n; ++p) {
        const double mean_re = u * mean[2 * p], mean_im = u * mean[2 * p + 1];
        const double *a = re.data() + p * R, *b = im.data() + p * R;
        const double *x = before_re.data() + p * R, *y = before_im.data() + p * R;
        double *next_x = before_re.data() + (p + 1) * R, *next_y = before_im.data() + (p + 1) * R;
        for (int64_t r = 0; r < R; ++r) {
          const double c = t * a[r] + mean_re, s = t * b[r] + mean_im;
          next_x[r] = x[r] * c - y[r] * s;
          next_y[r] = x[r] * s + y[r] * c;
        }
      }
      double after_re[R], after_im[R];
      std::fill_n(after_re, R, weights[i]);
      std::fill_n(after_im, R, 0.0);
      for (int64_t p = n - 1; p >= 0; --p) {
        const double mean_re = mean[2 * p], mean_im = mean[2 * p + 1];
        const double *a = re.data() + p * R, *b = im.data() + p * R;
        const double *x = before_re.data() + p * R, *y = before_im.data() + p * R;
        double* own = found.data() + p * R;
        for (int64_t r = 0; r < R; ++r) {
          const double others_re = x[r] * after_re[r] - y[r] * after_im[r];
          const double others_im = x[r] * after_im[r] + y[r] * after_re[r];
          own[r] += (a[r] - mean_re) * others_re - (b[r] - mean_im) * others_im;
          const double c = t * a[r] + u * mean_re, s = t * b[r] + u * mean_im;
          const double next = after_re[r] * c - after_im[r] * s;
          after_im[r] = after_re[r] * s + after_im[r] * c;
          after_re[r] = next;
        }
      }
    }
    for (int64_t i = 0; i < n_rows; ++i) {
      for (int64_t p = 0; p < n; ++p) {
        values[(i * n + p) * waves.n_waves + k] = found[size(p * R + i)];
      }
    }
  }
}

}  // namespace skliquid
