// Python functions that call the tree kernels. They check every array and every node before a
// kernel runs.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "door/arrays.hpp"
#include "door/threads.hpp"
#include "trees/explanation.hpp"
#include "trees/trees.hpp"

namespace skliquid {
namespace {

using Use = Array::Use;
using std::int64_t;
using std::uint64_t;
using std::uint8_t;

constexpr int64_t most_rows = std::numeric_limits<std::int32_t>::max();
constexpr int64_t most_columns = feature_bits;
constexpr int64_t most_classes = int64_t{1} << 24;
constexpr int64_t rows_per_job = 512;
constexpr double heaviest = 1e30;  // fits into a float, and sums of its squares into a double

// Run `n_jobs` jobs in threads. If a job runs out of memory, the others stop, and this throws
// `bad_alloc`.
template <class Job>
void do_jobs(int64_t n_jobs, int64_t n_threads, const Job& job) {
  std::atomic<int64_t> queue{0};
  std::atomic<bool> flag{false}, lacks_memory{false};
  ask_from_now_on();
  {
    nb::gil_scoped_release no_gil;
    share(
        usable_threads(n_threads, n_jobs),
        [&](int64_t thread) {
          const Stop stop{flag, thread == 0 ? is_interrupted : nullptr};
          for (int64_t k = queue++; k < n_jobs && !stop(); k = queue++) {
            try {
              job(k, stop);
            } catch (...) {  // jobs throw only if memory runs out
              lacks_memory.store(true);
              flag.store(true);
            }
          }
        },
        [&] {
          if (is_interrupted()) flag.store(true);
        });
  }
  if (PyErr_Occurred()) throw nb::python_error();
  if (lacks_memory.load()) throw std::bad_alloc();
}

// Checked bins, edges, labels and weights of the training rows.
class CheckedColumns {
  Array bins, edges, kinds, labels, weights;
  std::unique_ptr<Array> features;

 public:
  Columns columns;
  Labels classes;
  int64_t n_weights;

  CheckedColumns(nb::handle bins_, nb::handle edges_, nb::handle kinds_, nb::handle labels_,
                 int64_t n_classes, nb::handle weights_, nb::handle features_)
      : bins(bins_, "bins", 2, Use::read),
        edges(edges_, "edges", 2, Use::read),
        kinds(kinds_, "kinds", 1, Use::read),
        labels(labels_, "labels", 1, Use::read),
        weights(weights_, "weights", 2, Use::read) {
    const int64_t n_columns = bins.size(0), n_rows = bins.size(1);
    require(n_rows >= 1 && n_rows <= most_rows, "bins must have from 1 to 2**31 - 1 columns.");
    require(n_columns >= 1 && n_columns < most_columns, "bins must have from 1 to 2**29 rows.");
    require(n_classes >= 2 && n_classes <= most_classes, "n_classes must be from 2 to 2**24.");
    edges.expect_size(0, n_columns, "rows");
    edges.expect_size(1, most_edges, "columns");
    kinds.expect_size(0, n_columns, "numbers");
    kinds.expect_range<uint8_t>(0, 3);
    labels.expect_size(0, n_rows, "numbers");
    labels.expect_range<std::int32_t>(0, n_classes);
    weights.expect_size(1, n_rows, "columns");
    columns = {bins.as<uint8_t>(),  n_rows, n_columns, edges.as<double>(),
               kinds.as<uint8_t>(), nullptr};
    if (!features_.is_none()) check_features(features_);
    classes = {labels.as<std::int32_t>(), n_classes};
    n_weights = weights.size(0);
    check_bins();
  }

  // Check that `written` shares no memory with these arrays.
  void expect_apart_from(const Array& written) const {
    const Array* const others[] = {&bins, &edges, &kinds, &labels, &weights, features.get()};
    for (const Array* own : others) {
      if (own) written.expect_apart(*own);
    }
  }

  const double* weights_of(int64_t k) const {
    return k < 0 ? nullptr : weights.as<double>() + k * columns.n_rows;
  }

 private:
  // A column represents one feature, the first in its row of `features`. A one-hot column
  // represents one feature per bin.
  void check_features(nb::handle features_) {
    features = std::make_unique<Array>(features_, "features", 2, Use::read);
    features->expect_size(0, columns.n_columns, "rows");
    features->expect_size(1, n_bins, "columns");
    features->expect_range<std::int32_t>(0, most_columns, 0, columns.n_columns * n_bins);
    columns.features = features->as<std::int32_t>();
  }

  // Check that edges increase, that bins exist, and that weights are in range.
  void check_bins() const {
    for (int64_t f = 0; f < columns.n_columns; ++f) {
      require(columns.holds(f) != Holds::ones || columns.features,
              "kinds must be below 2 without features.");
    }
    for (int64_t f = 0; f < columns.n_columns; ++f) {
      const double* own = columns.edges + f * most_edges;
      for (int k = 1; k < most_edges; ++k) {
        const bool rises = own[k - 1] < own[k] || (std::isinf(own[k - 1]) && std::isinf(own[k]));
        require(rises && own[k] > 0 - INFINITY, "edges must rise, and end with infinite ones.");
      }
      require(own[0] == own[0], "edges must be numbers.");
      const int n_used = n_used_bins(columns, f);
      const uint8_t* b = columns.column(f);
      // a one-hot column has no missing values
      const int allowed = columns.holds(f) == Holds::ones ? 0 : missing_bin;
      uint8_t wrong = 0;
      for (int64_t i = 0; i < columns.n_rows; ++i) {
        wrong |= static_cast<uint8_t>((b[i] >= n_used) & (b[i] != allowed));
      }
      require(!wrong, "bins must be among those that edges make, or 63 where a value is missing.");
    }
    const double* w = weights.as<double>();
    for (int64_t i = 0; i < n_weights * columns.n_rows; ++i) {
      require(w[i] >= 0 && w[i] <= heaviest, "weights must be from 0 to 1e30.");
    }
  }
};

// Tasks as NumPy stores them, in fields of eight bytes: FOREST_TASK and BOOSTING_TASK in
// `native/__init__.py`.
struct ForestRecord {
  uint64_t seed;
  int64_t n_drawn, n_tried, min_leaf, splitter, weights;
};
struct BoostingRecord {
  uint64_t seed;
  int64_t n_trees, n_window, n_drawn, n_columns, depth;
  double rate, penalty, min_hessian;
  int64_t weights, scores;
};

template <class Record>
class Records {
  Array array;

 public:
  const Record* each;
  int64_t n;

  explicit Records(nb::handle object) : array(object, "tasks", 1, Use::read) {
    n = array.size(0) / static_cast<int64_t>(sizeof(Record));
    array.expect_size(0, n * static_cast<int64_t>(sizeof(Record)), "bytes");
    each = reinterpret_cast<const Record*>(array.as<uint8_t>());
    require(reinterpret_cast<std::uintptr_t>(each) % alignof(Record) == 0,
            "tasks must be aligned: copy them.");
  }
};

nb::bytes bytes_of(const void* data, std::size_t n_bytes) {
  return nb::bytes(static_cast<const char*>(data), n_bytes);
}

// Convert trees for Python: a list of pairs of bytes, nodes and values.
nb::list trees_of(const Grown& grown) {
  nb::list trees;
  const Node* node = grown.nodes.data();
  const float* value = grown.values.data();
  for (std::size_t t = 0; t < grown.n_nodes.size(); ++t) {
    const auto n_nodes = static_cast<std::size_t>(grown.n_nodes[t]);
    const auto n_values = static_cast<std::size_t>(grown.n_values[t]);
    trees.append(nb::make_tuple(bytes_of(node, n_nodes * sizeof(Node)),
                                bytes_of(value, n_values * sizeof(float))));
    node += n_nodes;
    value += n_values;
  }
  return trees;
}

void check_task(bool holds, const char* message) { require(holds, message); }

nb::list grow_forest(nb::handle bins, nb::handle edges, nb::handle kinds, nb::handle labels,
                     int64_t n_classes, nb::handle weights, nb::handle tasks_, int64_t n_threads,
                     nb::handle features) {
  const CheckedColumns checked(bins, edges, kinds, labels, n_classes, weights, features);
  const Records<ForestRecord> records(tasks_);
  std::vector<ForestTask> tasks;
  for (int64_t k = 0; k < records.n; ++k) {
    const ForestRecord& r = records.each[k];
    check_task(r.n_drawn >= 1 && r.n_drawn <= checked.columns.n_rows,
               "n_drawn must be from 1 to the number of rows.");
    check_task(r.n_tried >= 1, "n_tried must be at least 1.");
    check_task(r.min_leaf >= 1, "min_leaf must be at least 1.");
    check_task(r.splitter >= 0 && r.splitter <= 2, "splitter must be from 0 to 2.");
    check_task(r.weights >= -1 && r.weights < checked.n_weights,
               "weights must be a row of the weights, or -1.");
    const int64_t min_leaf = std::min(r.min_leaf, r.n_drawn);  // more has the same effect
    tasks.push_back({r.seed, r.n_drawn, r.n_tried, min_leaf, static_cast<Splitter>(r.splitter),
                     checked.weights_of(r.weights)});
  }
  std::vector<Grown> grown(tasks.size());
  do_jobs(records.n, n_threads, [&](int64_t k, const Stop& stop) {
    const auto at = static_cast<std::size_t>(k);
    grow_tree(checked.columns, checked.classes, tasks[at], stop, grown[at]);
  });
  nb::list results;
  for (const Grown& each : grown) {
    results.append(nb::make_tuple(trees_of(each), each.n_visits));
  }
  return results;
}

nb::list grow_sequences(nb::handle bins, nb::handle edges, nb::handle kinds, nb::handle labels,
                        int64_t n_classes, nb::handle weights, nb::handle tasks_, nb::handle base_,
                        nb::handle scores_, int64_t n_threads, nb::handle features) {
  const CheckedColumns checked(bins, edges, kinds, labels, n_classes, weights, features);
  const Records<BoostingRecord> records(tasks_);
  const Array base(base_, "base", 2, Use::read), scores(scores_, "scores", 3, Use::write);
  expect_apart({&base, &scores});
  checked.expect_apart_from(scores);
  const int64_t n_rows = checked.columns.n_rows, n_outputs = checked.classes.n_outputs();
  base.expect_size(0, records.n, "rows");
  base.expect_size(1, n_outputs, "columns");
  scores.expect_size(1, n_rows, "rows of each voter");
  scores.expect_size(2, n_outputs, "outputs");
  const double* first_base = base.as<double>();
  double* first_score = scores.as<double>();
  std::vector<bool> are_taken(static_cast<std::size_t>(scores.size(0)));
  std::vector<BoostingTask> tasks;
  for (int64_t k = 0; k < records.n; ++k) {
    const BoostingRecord& r = records.each[k];
    check_task(r.n_trees >= 0, "n_trees must not be negative.");
    check_task(r.n_window >= 1 && r.n_window <= n_rows,
               "n_window must be from 1 to the number of rows.");
    check_task(r.n_drawn >= 1, "n_drawn must be at least 1.");
    check_task(r.n_columns >= 1 && r.n_columns <= checked.columns.n_columns,
               "n_columns must be from 1 to the number of columns.");
    check_task(r.depth >= 1 && r.depth <= 16, "depth must be from 1 to 16.");
    check_task(std::isfinite(r.rate), "rate must be finite.");
    check_task(r.penalty > 0 && std::isfinite(r.penalty), "penalty must be above zero.");
    check_task(r.min_hessian >= 0, "min_hessian must not be negative.");
    check_task(r.weights >= -1 && r.weights < checked.n_weights,
               "weights must be a row of the weights, or -1.");
    check_task(r.scores >= -1 && r.scores < scores.size(0), "scores must be one of the scores.");
    if (r.scores >= 0) {  // they are written to
      const auto own = static_cast<std::size_t>(r.scores);
      check_task(!are_taken[own], "scores must be of one task only.");
      are_taken[own] = true;
    }
    tasks.push_back({r.seed, r.n_trees, r.n_window, r.n_drawn, r.n_columns, r.depth, r.rate,
                     r.penalty, r.min_hessian, first_base + k * n_outputs,
                     r.scores < 0 ? nullptr : first_score + r.scores * n_rows * n_outputs,
                     checked.weights_of(r.weights)});
  }
  std::vector<Grown> grown(tasks.size());
  do_jobs(records.n, n_threads, [&](int64_t k, const Stop& stop) {
    const auto at = static_cast<std::size_t>(k);
    grow_sequence(checked.columns, checked.classes, tasks[at], stop, grown[at]);
  });
  nb::list results;
  for (const Grown& each : grown) {
    results.append(nb::make_tuple(trees_of(each), each.n_visits));
  }
  return results;
}

// The trees of a voter. The constructor checks them, and they cannot change afterwards.
class CheckedTrees {
 public:
  Trees trees;
  int64_t width;

  CheckedTrees(nb::list parts, int64_t n_outputs, int64_t width_, bool is_sparse) : width(width_) {
    require(n_outputs >= 1 && n_outputs <= most_classes, "n_outputs must be at least 1.");
    require(width >= 1 && width < most_columns, "width must be from 1 to 2**29.");
    trees.n_outputs = n_outputs;
    trees.is_sparse = is_sparse;
    for (nb::handle part : parts) add(part);
    auto& columns = trees.set_columns;
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  CheckedTrees(const CheckedTrees&) = delete;
  CheckedTrees& operator=(const CheckedTrees&) = delete;

 private:
  void add(nb::handle part) {
    auto& nodes = trees.nodes;
    auto& values = trees.values;
    require(PyTuple_Check(part.ptr()) && PyTuple_Size(part.ptr()) == 2 &&
                PyBytes_Check(PyTuple_GetItem(part.ptr(), 0)) &&
                PyBytes_Check(PyTuple_GetItem(part.ptr(), 1)),
            "trees must be pairs of bytes, nodes and values.");
    PyObject *own_nodes = PyTuple_GetItem(part.ptr(), 0), *own = PyTuple_GetItem(part.ptr(), 1);
    const auto node_bytes = static_cast<std::size_t>(PyBytes_Size(own_nodes));
    const auto value_bytes = static_cast<std::size_t>(PyBytes_Size(own));
    const std::size_t row_bytes = sizeof(float) * static_cast<std::size_t>(trees.n_per_leaf());
    require(node_bytes > 0 && node_bytes % sizeof(Node) == 0, "nodes must be whole.");
    require(value_bytes > 0 && value_bytes % row_bytes == 0, "values must be whole rows.");
    const std::size_t root = nodes.size(), n = node_bytes / sizeof(Node);
    const std::size_t n_leaves = value_bytes / row_bytes;
    trees.roots.push_back(static_cast<int64_t>(root));
    trees.leaves.push_back(static_cast<int64_t>(values.size()) / trees.n_per_leaf());
    nodes.resize(root + n);
    std::memcpy(nodes.data() + root, PyBytes_AsString(own_nodes), node_bytes);
    const std::size_t first_value = values.size();
    values.resize(first_value + value_bytes / sizeof(float));
    std::memcpy(values.data() + first_value, PyBytes_AsString(own), value_bytes);
    if (trees.is_sparse) check_pairs(first_value);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    trees.steps.resize(root + n);
    trees.forks.resize(root + n);
    std::vector<std::uint32_t> depth(n, 0);
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Node& node = nodes[root + i];
      Step& step = trees.steps[root + i];
      Fork& fork = trees.forks[root + i];
      most = depth[i] > most ? depth[i] : most;
      if (node.feature & is_leaf) {
        const std::uint64_t n_own = trees.is_sparse ? node.cut : 1;
        require(node.feature == is_leaf && n_own <= n_leaves && node.next <= n_leaves - n_own,
                "nodes must have leaves whose values exist.");
        step = {infinity, 0, static_cast<std::uint32_t>(i)};
        fork = {infinity, 0, 0, static_cast<std::uint32_t>(i)};
        continue;
      }
      // children follow their parent, so every path ends
      require(node.next > i && node.next + std::size_t{1} < n, "nodes must have later children.");
      require(static_cast<int64_t>(node.feature & feature_bits) < width,
              "nodes must split columns that exist.");
      for (std::size_t child : {node.next, node.next + 1}) {  // a child may have several parents
        depth[child] = depth[i] + 1 > depth[child] ? depth[i] + 1 : depth[child];
      }
      const std::uint32_t feature = node.feature & feature_bits;
      const std::uint64_t of_missing = node.feature & missing_goes_right ? bit(missing_bin) : 0;
      step = {0.0, feature, node.next};
      std::memcpy(&step.cut, &node.cut, sizeof step.cut);
      fork = {step.cut, of_missing, feature, node.next};
      if (node.feature & is_categorical) {
        fork.cut = infinity;
        fork.set = (node.cut & ~bit(missing_bin)) | of_missing;
        trees.set_columns.push_back(feature);
      }
    }
    trees.depths.push_back(static_cast<int64_t>(most));
  }

  // Check the first number of each pair: an output, or `n_outputs` for all outputs.
  void check_pairs(std::size_t start) const {
    const auto most = static_cast<float>(trees.n_outputs);
    for (std::size_t k = start; k < trees.values.size(); k += 2) {
      const float output = trees.values[k];
      require(output >= 0 && output <= most && output == std::floor(output),
              "values must be pairs of an output and a number.");
    }
  }
};

template <class Number>
bool are_some_missing(const Number* X, int64_t n) {
  bool found = false;
  for (int64_t i = 0; i < n; ++i) found |= X[i] != X[i];
  return found;
}

template <class Number>
void add_up_all(const std::vector<const CheckedTrees*>& voters, const Number* X, int64_t n_rows,
                int64_t width, double* sums, int64_t n_outputs, int64_t n_threads) {
  const int64_t n_blocks = (n_rows + rows_per_job - 1) / rows_per_job;
  do_jobs(n_blocks, n_threads, [&](int64_t block, const Stop&) {
    const int64_t start = block * rows_per_job;
    const int64_t n = n_rows - start < rows_per_job ? n_rows - start : rows_per_job;
    const Number* own = X + start * width;
    const bool has_missing = are_some_missing(own, n * width);
    for (std::size_t v = 0; v < voters.size(); ++v) {
      double* to = sums + (static_cast<int64_t>(v) * n_rows + start) * n_outputs;
      add_up(voters[v]->trees, own, n, width, has_missing, to);
    }
  });
}

// Add the leaf values of the trees of each voter to its sums.
void add_up_trees(nb::list voters_, nb::handle X_, nb::handle sums_, int64_t n_threads) {
  const Array X(X_, "X", 2, Use::read), sums(sums_, "sums", 3, Use::write);
  expect_apart({&X, &sums});
  std::vector<nb::object> kept;  // another thread may change the list meanwhile
  std::vector<const CheckedTrees*> voters;
  for (nb::handle each : voters_) {
    const CheckedTrees* trees = nullptr;
    kept.push_back(nb::borrow(each));
    require(nb::try_cast(each, trees) && trees, "voters must be skliquid.native.Trees.");
    require(trees->width == X.size(1), "X must have as many columns as trees were grown on.");
    require(trees->trees.n_outputs == sums.size(2), "sums must have one number per output.");
    voters.push_back(trees);
  }
  sums.expect_size(0, static_cast<int64_t>(voters.size()), "voters");
  sums.expect_size(1, X.size(0), "rows");
  if (X.size(0) == 0 || voters.empty()) return;
  double* to = sums.as<double>();
  if (X.holds<float>()) {
    add_up_all(voters, X.as<float>(), X.size(0), X.size(1), to, sums.size(2), n_threads);
  } else {
    add_up_all(voters, X.as<double>(), X.size(0), X.size(1), to, sums.size(2), n_threads);
  }
}

void find_all_bins(nb::handle X_, nb::handle edges_, nb::handle bins_, int64_t n_threads) {
  const Array X(X_, "X", 2, Use::read), edges(edges_, "edges", 2, Use::read);
  const Array bins(bins_, "bins", 2, Use::write);
  expect_apart({&X, &edges, &bins});
  const int64_t n_rows = X.size(0), width = X.size(1);
  edges.expect_size(0, width, "rows");
  edges.expect_size(1, most_edges, "columns");
  bins.expect_size(0, width, "rows");
  bins.expect_size(1, n_rows, "columns");
  const bool is_single = X.holds<float>();
  const void* numbers = X.as_real(is_single);
  const double* own = edges.as<double>();
  uint8_t* to = bins.as<uint8_t>();
  constexpr int64_t columns_per_job = 16;
  const int64_t n_jobs = (width + columns_per_job - 1) / columns_per_job;
  do_jobs(n_jobs, n_threads, [&](int64_t job, const Stop&) {
    const int64_t first = job * columns_per_job;
    const int64_t end = first + columns_per_job < width ? first + columns_per_job : width;
    if (is_single) {
      find_bins(static_cast<const float*>(numbers), n_rows, width, own, to, first, end);
    } else {
      find_bins(static_cast<const double*>(numbers), n_rows, width, own, to, first, end);
    }
  });
}

// Checked arguments that explanations of trees and of waves share.
struct CheckedGame {
  Array X, background, players_, quadratures_, values;
  Players players;
  Quadratures quadratures;

  CheckedGame(nb::handle X_, nb::handle background_, nb::handle players__, int64_t n_players,
              nb::handle quadratures__, nb::handle values_)
      : X(X_, "X", 2, Use::read),
        background(background_, "background", 2, Use::read),
        players_(players__, "players", 1, Use::read),
        quadratures_(quadratures__, "quadratures", 3, Use::read),
        values(values_, "values", 3, Use::write) {
    require(n_players >= 1 && n_players < most_columns, "n_players must be from 1 to 2**29.");
    players_.expect_size(0, X.size(1), "numbers");
    players_.expect_range<std::int32_t>(0, n_players);
    quadratures_.expect_size(0, most_points, "rules");
    quadratures_.expect_size(1, 2, "rows, points and weights");
    quadratures_.expect_size(2, most_points, "columns");
    values.expect_size(0, X.size(0), "rows");
    values.expect_size(1, n_players, "players");
    players = {players_.as<std::int32_t>(), n_players};
    quadratures = {quadratures_.as<double>()};
  }
};

// Call `explain(first, n)` for blocks of rows.
template <class Explain>
void explain_blocks(int64_t n_rows, int64_t n_threads, const Explain& explain) {
  const int64_t n_blocks = (n_rows + rows_explained - 1) / rows_explained;
  do_jobs(n_blocks, n_threads, [&](int64_t block, const Stop&) {
    const int64_t first = block * rows_explained;
    explain(first, std::min(rows_explained, n_rows - first));
  });
}

// Find the Shapley values of the sum of a voter's trees, and its expected sum.
void explain_trees(nb::handle trees_, nb::handle X, nb::handle columns, nb::handle players,
                   int64_t n_players, nb::handle quadratures, nb::handle values,
                   nb::handle expected_, int64_t n_threads) {
  const CheckedGame game(X, columns, players, n_players, quadratures, values);
  const Array expected(expected_, "expected", 1, Use::write);
  expect_apart(
      {&game.X, &game.background, &game.players_, &game.quadratures_, &game.values, &expected});
  const CheckedTrees* checked = nullptr;
  require(nb::try_cast(trees_, checked) && checked, "trees must be skliquid.native.Trees.");
  const Trees& trees = checked->trees;
  const int64_t width = game.X.size(1), n_outputs = trees.n_outputs;
  require(checked->width == width, "X must have as many columns as trees were grown on.");
  game.background.expect_size(0, width, "rows, one for each column");
  require(game.background.size(1) >= 1, "background must have a row.");
  game.values.expect_size(2, n_outputs, "outputs");
  expected.expect_size(0, n_outputs, "numbers");
  const double *numbers = game.X.as<double>(), *own = game.background.as<double>();
  double *found = game.values.as<double>(), *sums = expected.as<double>();
  Shares shares;
  require(find_shares(trees, game.players, own, game.background.size(1), shares),
          "trees must not share nodes.");
  std::copy(shares.expected.begin(), shares.expected.end(), sums);
  explain_blocks(game.X.size(0), n_threads, [&](int64_t first, int64_t n) {
    explain_rows(trees, game.players, shares, game.quadratures, numbers + first * width, n, width,
                 found + first * n_players * n_outputs);
  });
}

// Find the Shapley values of cosines of linear functions, and the expected cosines.
void explain_waves_(nb::handle directions_, nb::handle offsets_, nb::handle X,
                    nb::handle background, nb::handle players, int64_t n_players,
                    nb::handle quadratures, nb::handle values, nb::handle expected_,
                    int64_t n_threads) {
  const CheckedGame game(X, background, players, n_players, quadratures, values);
  const Array directions(directions_, "directions", 2, Use::read);
  const Array offsets(offsets_, "offsets", 1, Use::read);
  const Array expected(expected_, "expected", 1, Use::write);
  expect_apart({&game.X, &game.background, &game.players_, &game.quadratures_, &game.values,
                &directions, &offsets, &expected});
  const int64_t width = game.X.size(1), n_waves = offsets.size(0);
  directions.expect_size(0, n_waves, "rows");
  directions.expect_size(1, width, "columns");
  game.background.expect_size(1, width, "columns");
  require(game.background.size(0) >= 1, "background must have a row.");
  game.values.expect_size(2, n_waves, "waves");
  expected.expect_size(0, n_waves, "numbers");
  const double* numbers = game.X.as<double>();
  double *found = game.values.as<double>(), *to = expected.as<double>();
  Waves waves{directions.as<double>(), offsets.as<double>(), width, n_waves, {}};
  find_means(waves, game.players, game.background.as<double>(), game.background.size(0));
  for (int64_t k = 0; k < n_waves; ++k) to[k] = expected_wave(waves, game.players, k);
  explain_blocks(game.X.size(0), n_threads, [&](int64_t first, int64_t n) {
    explain_waves(waves, game.players, game.quadratures, numbers + first * width, n,
                  found + first * n_players * n_waves);
  });
}

void to_probabilities_(nb::handle scores_, nb::handle probabilities_) {
  const Array scores(scores_, "scores", 2, Use::read);
  const Array probabilities(probabilities_, "probabilities", 2, Use::write);
  expect_apart({&scores, &probabilities});
  const int64_t n_rows = scores.size(0), n_classes = probabilities.size(1);
  require(n_classes >= 2, "probabilities must have two columns or more.");
  scores.expect_size(1, n_classes == 2 ? 1 : n_classes, "columns");
  probabilities.expect_size(0, n_rows, "rows");
  to_probabilities(scores.as<double>(), n_rows, n_classes, probabilities.as<double>());
}

}  // namespace

void add_tree_functions(nb::module_& m) {
  nb::class_<CheckedTrees>(m, "Trees")
      .def(nb::init<nb::list, int64_t, int64_t, bool>(), nb::arg("parts"), nb::arg("n_outputs"),
           nb::arg("width"), nb::arg("is_sparse") = false);
  m.def("grow_forest", &grow_forest, nb::arg("bins"), nb::arg("edges"), nb::arg("kinds"),
        nb::arg("labels"), nb::arg("n_classes"), nb::arg("weights"), nb::arg("tasks"),
        nb::arg("n_threads"), nb::arg("features") = nb::none());
  m.def("grow_sequences", &grow_sequences, nb::arg("bins"), nb::arg("edges"), nb::arg("kinds"),
        nb::arg("labels"), nb::arg("n_classes"), nb::arg("weights"), nb::arg("tasks"),
        nb::arg("base"), nb::arg("scores"), nb::arg("n_threads"), nb::arg("features") = nb::none());
  m.def("add_up_trees", &add_up_trees, nb::arg("voters"), nb::arg("X"), nb::arg("sums"),
        nb::arg("n_threads"));
  m.def("find_bins", &find_all_bins, nb::arg("X"), nb::arg("edges"), nb::arg("bins"),
        nb::arg("n_threads"));
  m.def("explain_trees", &explain_trees, nb::arg("trees"), nb::arg("X"), nb::arg("columns"),
        nb::arg("players"), nb::arg("n_players"), nb::arg("quadratures"), nb::arg("values"),
        nb::arg("expected"), nb::arg("n_threads"));
  m.def("explain_waves", &explain_waves_, nb::arg("directions"), nb::arg("offsets"), nb::arg("X"),
        nb::arg("background"), nb::arg("players"), nb::arg("n_players"), nb::arg("quadratures"),
        nb::arg("values"), nb::arg("expected"), nb::arg("n_threads"));
  m.def("to_probabilities", &to_probabilities_, nb::arg("scores"), nb::arg("probabilities"));
}

}  // namespace skliquid
