// Arguments of the linear kernels (rows, separators, settings), and the table of kernels.
// A separator is one binary linear classifier. A voter has one, or one per class if there are more
// than two classes.

#pragma once

#include <atomic>
#include <cstdint>

namespace skliquid {

enum class Loss : std::int64_t { hinge, perceptron, squared_hinge, modified_huber, log_loss };
enum class LearningRate : std::int64_t { constant, optimal, invscaling };

// How the training of a separator ended. Doubtful: rounding errors decide when to stop, so the
// caller must repeat the training with scikit-learn. Overflown: a coefficient is not finite.
enum class Verdict : std::int64_t { settled, doubtful, overflown };

// Hyperparameters that all separators of a call share.
struct Settings {
  Loss loss;
  LearningRate learning_rate;
  double power_t;
  bool penalized;         // with the l2 penalty
  bool penalty_counts;    // in the stopping rule
  double intercept_step;  // 0 without intercept
  bool shuffles;
  std::int64_t average_from;  // 0: no averaging
  std::int64_t max_iter;
  double tol;  // minus infinity: train for `max_iter` epochs
  std::int64_t n_iter_no_change;
};

// A separator without its coefficients. `problem` and `weights` are row indices into the labels and
// the sample weights, `first_row` is the first of its rows in X. With averaging, `count_steps` uses
// the fields after `shows_average`.
struct Separator {
  double alpha;
  double eta0;
  std::int64_t seed;
  std::int64_t problem;
  std::int64_t weights;
  std::int64_t first_row;
  double steps;
  std::int64_t n_iter;
  std::int64_t verdict;
  double intercept;
  double average_intercept;
  std::int64_t shows_average;
  double average_a;
  double average_b;
  double scale;
  double new_intercept;
};

// Rows of X: dense if `indices` is null, else CSR. Values have the type of the coefficients, float
// or double.
struct Rows {
  const void* values;
  const std::int32_t* indices;
  const std::int64_t* indptr;
  std::int64_t n_rows;
  std::int64_t n_columns;
};

struct Separators {
  void* coef;     // one row per separator
  void* average;  // the same; empty without averaging
  Separator* each;
  std::int64_t n_separators;
  std::int64_t width;  // of a row of coefficients
  bool is_single;      // float instead of double
};

struct Training {
  Separators separators;
  const std::int64_t* chosen;
  std::int64_t n_chosen;
  Rows rows;
  std::int64_t n_rows;     // per separator
  const void* labels;      // one row per problem
  const void* importance;  // sample weights, one row per value of Separator::weights
  const double* row_norms;
  std::int32_t* orders;  // shuffled orders, kept between calls
  std::int64_t n_orders;
  Settings settings;
  // Shared by threads: the position of the next separator in `chosen`, and whether to stop.
  std::atomic<std::int64_t>* queue;
  std::atomic<bool>* stop;
};

struct Voting {
  const void* coef;
  const double* intercept;
  std::int64_t width;
  bool is_single;
  const std::int64_t* separators;  // those of the first voter, then those of the second, ...
  std::int64_t n_voters;
  std::int64_t n_separators;  // per voter
  std::int64_t n_terms;       // largest number of terms in a score
  const double* row_norms;
  std::int64_t n_rows;
  void* votes;  // one row per voter, `vote_stride` votes long
  std::int64_t vote_stride;
  int vote_bytes;
  bool* doubtful;
};

constexpr int max_lanes = 4;

// Added to every length. Squares of smaller numbers may underflow, and error bounds would be too
// small.
constexpr double shortest = 1e-145;

// The kernels of one instruction set.
struct Kernels {
  const char* name;
  std::int64_t (*n_side_by_side)(const Training&);
  std::int64_t (*scratch_size)(const Training&);
  void (*train)(const Training&, char* scratch, bool (*interrupted)());
  void (*count_steps)(const Separators&, const std::int64_t* chosen, std::int64_t n_chosen,
                      std::int64_t n_separators, std::int64_t n_rows, std::int64_t average_from);
  void (*score_and_judge)(const Voting&, const Rows&, void* scores);
  void (*vote_by_scores)(const Voting&, const void* scores, std::int64_t score_stride);
  void (*row_norms)(const Rows&, bool is_single, double* norms);
  void (*cosines)(double* values, std::int64_t n, double factor);
};

// Return the kernels for this processor, or those that the caller selected; see door/module.cpp.
const Kernels& kernels();

}  // namespace skliquid
