// Training of many separators: shuffled orders, lanes, and scikit-learn's stopping rule.

#pragma once

#include <type_traits>

#include "linear/epoch.hpp"
#include "linear/seeds.hpp"

namespace SKLIQUID_INSTRUCTIONS {
namespace {

using skliquid::Separator;
using skliquid::Training;

constexpr int fewest_side_by_side = 3;  // of four lanes; two are faster one at a time
constexpr double safe_length = 1e18;    // squares of shorter vectors sum up to a finite float

// Return the bytes that a thread needs for shuffled orders.
inline int64_t scratch_size_of(const Training& t, int64_t n_lanes) {
  return 3 * n_lanes * t.n_rows * static_cast<int64_t>(sizeof(std::int32_t));
}

template <class Rows>
class Trainer {
  using Real = typename Rows::Real;
  const Training& training;
  const Settings& settings;
  const Rows X;
  const int64_t n_rows, width;
  int n_lanes, n_busy;
  Lane<Real> lanes[skliquid::max_lanes];
  int busy[skliquid::max_lanes];

 public:
  Trainer(const Training& t, int most_lanes, char* scratch)
      : training(t), settings(t.settings), X(t.rows), n_rows(t.n_rows), width(t.separators.width) {
    const int64_t start = training.queue->fetch_add(most_lanes);
    const int64_t n_left = training.n_chosen - start;
    n_lanes = static_cast<int>(n_left < 0 ? 0 : n_left < most_lanes ? n_left : most_lanes);
    n_busy = n_lanes;
    auto* orders = reinterpret_cast<std::int32_t*>(scratch);
    for (int k = 0; k < n_lanes; ++k) {
      busy[k] = k;
      lanes[k].base = orders + (3 * k) * n_rows;
      lanes[k].order = orders + (3 * k + 1) * n_rows;
      lanes[k].spare = orders + (3 * k + 2) * n_rows;
      enter(lanes[k], training.chosen[start + k]);
    }
  }

  // Train until no separator is left. When a separator is done, its lane takes the next one from
  // the queue, which all threads share. When the queue is empty, the lane is idle. The last two
  // separators run one at a time.
  void run(bool (*interrupted)()) {
    while (n_busy > 0) {
      if (n_lanes == 4 && n_busy >= fewest_side_by_side) {
        Lane<Real>* const together[4] = {&lanes[0], &lanes[1], &lanes[2], &lanes[3]};
        if constexpr (!Rows::is_sparse) epoch<4>(together);
      } else {
        for (int i = 0; i < n_busy; ++i) {
          Lane<Real>* const alone[1] = {&lanes[busy[i]]};
          epoch<1>(alone);
        }
      }
      if (interrupted && interrupted()) training.stop->store(true);
      for (int i = n_busy - 1; i >= 0; --i) follow(i);
    }
  }

 private:
  // Prepare the next epoch of a lane: of its separator, or if that is done, of the next one in the
  // queue.
  void follow(int i) {
    Lane<Real>& its = lanes[busy[i]];
    const bool stops = training.stop->load(std::memory_order_relaxed);
    if (!is_over(its) && !stops) {
      for (int64_t j = 0; j < n_rows; ++j) its.spare[j] = its.order[its.base[j]];
      std::int32_t* last = its.order;
      its.order = its.spare;
      its.spare = last;
      return;
    }
    leave(its);
    const int64_t next = stops ? training.n_chosen : training.queue->fetch_add(1);
    if (next < training.n_chosen) {
      enter(its, training.chosen[next]);
    } else {
      its.is_idle = 1.0;
      its.scale = 1.0;
      busy[i] = busy[--n_busy];
    }
  }

  template <int n>
  void epoch(Lanes<n, Real> together) {
    const auto take = [&](auto is_smooth, auto watches) {
      take_epoch<Rows, n, decltype(is_smooth)::value, decltype(watches)::value>(
          together, X, training.row_norms, settings, n_rows, width);
    };
    using Yes = std::integral_constant<bool, true>;
    using No = std::integral_constant<bool, false>;
    const bool watches = watches_objective(settings);
    if (has_threshold(settings)) {
      watches ? take(No(), Yes()) : take(No(), No());
    } else {
      watches ? take(Yes(), Yes()) : take(Yes(), No());
    }
  }

  void enter(Lane<Real>& its, int64_t m) {
    Separator& separator = training.separators.each[m];
    its.separator = &separator;
    its.w = static_cast<Real*>(training.separators.coef) + m * width;
    its.average = static_cast<Real*>(training.separators.average) + m * width;
    its.label = static_cast<const Real*>(training.labels) + separator.problem * n_rows;
    its.importance = static_cast<const Real*>(training.importance) + separator.weights * n_rows;
    its.first_row = separator.first_row;
    its.epoch = its.n_worse = 0;
    its.verdict = Verdict::settled;
    its.is_idle = 0.0;
    its.alpha = separator.alpha;
    its.eta0 = separator.eta0;
    its.steps = separator.steps;
    its.intercept = separator.intercept;
    its.average_intercept = separator.average_intercept;
    its.scale = its.average_b = 1.0;
    its.average_a = its.objective = its.doubt = its.reach = 0.0;
    its.squared = squared_length(its.w, width);
    its.blur = its.squared > 0.0 ? static_cast<double>(width) * precision<Real> : 0.0;
    its.best = INFINITY;
    its.best_doubt = 0.0;
    lay_out(its, m);
  }

  // Fill in the order of a separator's rows in the first epoch. Every later epoch applies the same
  // permutation again.
  void lay_out(Lane<Real>& its, int64_t m) {
    const auto n_bytes = static_cast<std::size_t>(n_rows) * sizeof(std::int32_t);
    std::int32_t* kept = m < training.n_orders ? training.orders + m * n_rows : nullptr;
    bool is_known = kept && kept[0] >= 0;
    if (is_known) {  // another Python thread may be writing to it: check the copy
      std::memcpy(its.base, kept, n_bytes);
      is_known = are_rows(its.base);
    }
    if (!is_known) {
      for (int64_t i = 0; i < n_rows; ++i) its.base[i] = static_cast<std::int32_t>(i);
      if (settings.shuffles) {
        skliquid::shuffle(static_cast<std::uint32_t>(its.separator->seed), its.base, n_rows);
      }
      if (kept) std::memcpy(kept, its.base, n_bytes);
    }
    std::memcpy(its.order, its.base, n_bytes);
  }

  bool are_rows(const std::int32_t* order) const {
    std::int32_t least = 0, most = 0;
    for (int64_t i = 0; i < n_rows; ++i) {
      least = order[i] < least ? order[i] : least;
      most = order[i] > most ? order[i] : most;
    }
    return least >= 0 && most < n_rows;
  }

  // Return whether a separator has taken its last epoch.
  bool is_over(Lane<Real>& its) {
    if (its.verdict == Verdict::doubtful) return true;
    ++its.epoch;
    if (!(std::isfinite(its.intercept) && all_finite(its.w, width))) {
      its.verdict = Verdict::overflown;
      return true;
    }
    if (watches_objective(settings)) {
      const double n = static_cast<double>(n_rows), objective = its.objective / n;
      const double epochs = static_cast<double>(4 + 2 * its.epoch);
      const double blur = epochs * n * epsilon + its.blur;
      const double doubt = its.doubt / n + blur * std::fabs(objective) + shortest;
      const double goal = its.best - settings.tol, together = doubt + its.best_doubt;
      // in single precision, large squares overflow
      const bool is_safe = its.reach <= slack_of(width) * safe_length;
      const bool is_sure = is_safe || !(is_single<Real> && settings.penalty_counts);
      if (!(is_sure && std::fabs(objective - goal) > together)) {  // or NaN
        its.verdict = Verdict::doubtful;
        return true;
      }
      its.n_worse = objective > goal ? its.n_worse + 1 : 0;
      const double gap = objective - its.best;
      if (gap < -together) {
        its.best_doubt = doubt;
      } else if (gap <= together) {  // either may be the best in scikit-learn
        its.best_doubt = std::fmax(doubt, its.best_doubt);
      }
      its.best = std::fmin(objective, its.best);
      if (its.n_worse >= settings.n_iter_no_change) return true;
    }
    return its.epoch == settings.max_iter;
  }

  // Write the results of a separator.
  void leave(Lane<Real>& its) {
    Separator& separator = *its.separator;
    separator.n_iter = its.epoch;
    separator.verdict = static_cast<int64_t>(its.verdict);
    if (settings.average_from > 0) {
      separator.average_a = its.average_a;
      separator.average_b = its.average_b;
      separator.scale = its.scale;
      separator.new_intercept = its.intercept;
      separator.average_intercept = its.average_intercept;
    } else {
      multiply(its.w, width, its.scale);
      separator.intercept = its.intercept;
    }
  }
};

// Return how many separators train side by side: four, or one if that is faster.
inline int lanes_of(const Training& t) {
  if (t.rows.indices) return 1;
  // converting four averages takes longer than waiting for sums, unless sums are in order
  const bool converts = t.settings.average_from > 0 && t.separators.is_single;
  return converts && has_threshold(t.settings) ? 1 : skliquid::max_lanes;
}

template <class Rows>
void train_rows(const Training& training, char* scratch, bool (*interrupted)()) {
  Trainer<Rows>(training, lanes_of(training), scratch).run(interrupted);
}

inline void train(const Training& training, char* scratch, bool (*interrupted)()) {
  if (training.separators.is_single) {
    training.rows.indices ? train_rows<SparseRows<float>>(training, scratch, interrupted)
                          : train_rows<DenseRows<float>>(training, scratch, interrupted);
  } else {
    training.rows.indices ? train_rows<SparseRows<double>>(training, scratch, interrupted)
                          : train_rows<DenseRows<double>>(training, scratch, interrupted);
  }
}

inline int64_t n_side_by_side(const Training& training) { return lanes_of(training); }

inline int64_t scratch_size(const Training& training) {
  return scratch_size_of(training, lanes_of(training));
}

// Set the intercepts after training with averaging. Once an average is in use, scikit-learn starts
// later calls from the intercept before averaging. With several classes, it overwrites the averaged
// intercept with the new one. This does the same.
template <class Real>
void show(Separator& separator, bool shows, bool is_alone) {
  const double next = separator.new_intercept;
  separator.average_intercept = static_cast<Real>(separator.average_intercept);
  if (is_alone) {
    if (!shows) separator.intercept = next;
  } else if (separator.shows_average) {
    separator.average_intercept = static_cast<Real>(next);
  } else {
    separator.intercept = static_cast<Real>(next);
  }
  separator.shows_average = shows;
}

template <class Real>
void count_steps_of(const skliquid::Separators& separators, const int64_t* chosen, int64_t n_chosen,
                    int64_t n_separators, int64_t n_rows, int64_t average_from) {
  const int64_t width = separators.width;
  for (int64_t first = 0; first < n_chosen; first += n_separators) {
    int64_t n_iter = 0;
    for (int64_t k = first; k < first + n_separators; ++k) {
      const int64_t its = separators.each[chosen[k]].n_iter;
      n_iter = its > n_iter ? its : n_iter;
    }
    for (int64_t k = first; k < first + n_separators; ++k) {
      Separator& separator = separators.each[chosen[k]];
      separator.steps += static_cast<double>(n_iter) * static_cast<double>(n_rows);
      if (average_from == 0) continue;
      multiply(static_cast<Real*>(separators.average) + chosen[k] * width, width,
               1.0 / separator.average_b);
      multiply(static_cast<Real*>(separators.coef) + chosen[k] * width, width, separator.scale);
      show<Real>(separator, static_cast<double>(average_from) <= separator.steps - 1,
                 n_separators == 1);
    }
  }
}

// Count the steps of the latest training, and finish averages. Before, the caller adds to averages
// with the BLAS that scikit-learn uses.
inline void count_steps(const skliquid::Separators& separators, const int64_t* chosen,
                        int64_t n_chosen, int64_t n_separators, int64_t n_rows,
                        int64_t average_from) {
  const auto count = separators.is_single ? count_steps_of<float> : count_steps_of<double>;
  count(separators, chosen, n_chosen, n_separators, n_rows, average_from);
}

}  // namespace
}  // namespace SKLIQUID_INSTRUCTIONS
