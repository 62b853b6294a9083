// One epoch of SGD for one separator, or for four side by side.
//
// Four separators take the same steps on different rows. Each variable has one number per
// separator. While one separator waits for a sum, the others continue. There is no branch to
// predict: a separator whose prediction is correct adds zero.
//
// The readable version of this loop is pools/linear/reference.py. Results have the same bits as
// scikit-learn's, by these rules:
// - Sums that coefficients depend on are computed in order. Additions are element by element.
// - Hinge and perceptron steps compare a score with a threshold. A sum in any order is enough,
//   unless the score is within the error bound of the threshold: then it is computed again in
//   order.
// - The stopping rule compares objectives. Sums in any order are enough, unless the difference is
//   within the error bound, `doubt`.

#pragma once

#include "linear/kernels.hpp"
#include "linear/losses.hpp"
#include "linear/rows.hpp"
#include "linear/vectors.hpp"

namespace SKLIQUID_INSTRUCTIONS {
namespace {

using skliquid::Verdict;

constexpr int most_factors = 512;  // each from 1 to 2, so their product does not overflow
constexpr int64_t rows_ahead = 3;  // rows are prefetched this far ahead
// Up to this many numbers, rows stay in the second cache, and prefetching costs more than it saves.
constexpr int64_t fits_second_cache = 1 << 18;

template <class Real>
constexpr bool is_single = sizeof(Real) == sizeof(float);

// The precision of coefficients, and the scale below which scikit-learn multiplies it into them.
template <class Real>
constexpr double precision = is_single<Real> ? 1.1920928955078125e-07 : epsilon;
template <class Real>
constexpr double smallest_scale = is_single<Real> ? 1e-6 : 1e-9;

// Return the relative error bound of a sum in any order, compared with the sum in order.
SKLIQUID_INLINE double slack_of(int64_t width) { return static_cast<double>(width + 32) * epsilon; }

// A separator in training: its state between two epochs.
template <class Real>
struct Lane {
  skliquid::Separator* separator;
  Real *w, *average;
  const Real *label, *importance;
  int64_t first_row;
  std::int32_t *base, *order, *spare;  // the shuffle, the order of this epoch, room for the next
  int64_t epoch, n_worse;
  Verdict verdict;
  double is_idle;  // 1 if its separator is done and the queue is empty
  double alpha, eta0, steps;
  double intercept, average_intercept;
  double scale;    // the coefficients are `scale * w`
  double squared;  // squared length of the coefficients
  double average_a, average_b;
  double objective, doubt;
  double blur;   // relative rounding error of scikit-learn's `squared` of the first coefficients
  double reach;  // times a row's length, the error bound of a sum in any order; the largest so far
  double best, best_doubt;
};

template <int n_lanes, class Real>
using Lanes = Lane<Real>* const (&)[n_lanes];

template <int n_lanes, class Real, class Member>
SKLIQUID_INLINE Numbers<n_lanes> of(Lanes<n_lanes, Real> lanes, Member member) {
  return numbers<n_lanes>([&](int k) { return static_cast<double>(lanes[k]->*member); });
}

// Return the number of the next step of each separator, counted from 1.
template <int n_lanes, class Real>
SKLIQUID_INLINE Numbers<n_lanes> next_step(Lanes<n_lanes, Real> lanes, int64_t n_rows) {
  return numbers<n_lanes>(
      [&](int k) { return lanes[k]->steps + static_cast<double>(lanes[k]->epoch * n_rows); });
}

// Dot products of coefficients and rows, for one separator or for four.

template <int n_lanes, class Rows, class Real>
SKLIQUID_INLINE Numbers<n_lanes> dots_in_order(Lanes<n_lanes, Real> lanes, const Rows& X,
                                               const int64_t (&row)[n_lanes]) {
  return numbers<n_lanes>([&](int k) { return dot_in_order(lanes[k]->w, X, row[k]); });
}

SKLIQUID_INLINE double totals(const Sums (&sums)[1]) { return total(sums[0]); }

SKLIQUID_INLINE Four totals(const Sums (&sums)[4]) {
  return totals(sums[0].block, sums[1].block, sums[2].block, sums[3].block) +
         numbers<4>([&](int k) { return sums[k].rest; });
}

template <int n_lanes, class Rows, class Real>
SKLIQUID_INLINE Numbers<n_lanes> dots_in_any_order(Lanes<n_lanes, Real> lanes, const Rows& X,
                                                   const int64_t (&row)[n_lanes]) {
  if constexpr (Rows::is_sparse) {
    return dot_in_any_order(lanes[0]->w, X, row[0]);
  } else {
    Sums sums[n_lanes];
    for_each_lane<n_lanes>(
        [&](int k) SKLIQUID_INLINED { sums[k] = dot_in_any_order(lanes[k]->w, X, row[k]); });
    return totals(sums);
  }
}

// Add `factor` times its row to the coefficients of each separator. Return dot products with the
// next rows, and fill in the sums of squared coefficients.
template <bool in_order, bool counts_squares, int n_lanes, class Rows, class Real>
SKLIQUID_INLINE Numbers<n_lanes> add_rows(Lanes<n_lanes, Real> lanes, const Rows& X,
                                          const int64_t (&row)[n_lanes],
                                          const Numbers<n_lanes>& update,
                                          const Numbers<n_lanes>& factor,
                                          const int64_t (&next)[n_lanes],
                                          Numbers<n_lanes>& squares) {
  if constexpr (Rows::is_sparse) {
    if (update != 0.0) squares = add_row(lanes[0]->w, X, row[0], factor);
    return in_order ? dots_in_order<1>(lanes, X, next) : dots_in_any_order<1>(lanes, X, next);
  } else {
    if constexpr (n_lanes == 1) {
      if (update == 0.0) {
        return in_order ? dots_in_order<1>(lanes, X, next) : dots_in_any_order<1>(lanes, X, next);
      }
    }
    const Numbers<n_lanes> none = alike<n_lanes>(0.0);
    const Numbers<n_lanes> zero =
        where_at_most(magnitude(update), none, alike<n_lanes>(-0.0), none);
    Sums of_squares[n_lanes];
    Numbers<n_lanes> products;
    if constexpr (in_order) {
      Real* w[n_lanes];
      for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED { w[k] = lanes[k]->w; });
      products = add_and_look_ahead_in_order<counts_squares, n_lanes, Real>(w, X, row, factor, zero,
                                                                            next, of_squares);
    } else {
      Sums sums[n_lanes];
      for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED {
        add_and_look_ahead<counts_squares>(lanes[k]->w, X, row[k], lane(factor, k), lane(zero, k),
                                           next[k], sums[k], of_squares[k]);
      });
      products = totals(sums);
    }
    if constexpr (counts_squares) squares = totals(of_squares);
    return products;
  }
}

// Multiply scales that are too small into the coefficients. Error bounds shrink with them. An
// average that has begun cannot be corrected here: such a separator is left to scikit-learn.
template <int n_lanes, class Real>
void fold_scales(Lanes<n_lanes, Real> lanes, int64_t width, const Numbers<n_lanes>& average_a,
                 Numbers<n_lanes>& scale, Numbers<n_lanes>& reach, Numbers<n_lanes>& farthest) {
  for (int k = 0; k < n_lanes; ++k) {
    const double small = lane(scale, k), its_reach = lane(reach, k);
    if (!(small < smallest_scale<Real>)) continue;
    if (lane(average_a, k) != 0.0) lanes[k]->verdict = Verdict::doubtful;
    multiply(lanes[k]->w, width, small);
    set_lane(farthest, k, std::fmax(lane(farthest, k), its_reach));
    set_lane(reach, k, its_reach * small);
    set_lane(scale, k, 1.0);
  }
}

// Return the error bound of rounded scores, compared with scores from sums in order.
template <class Real, class Value>
SKLIQUID_INLINE Value nearness(const Value& score, const Value& intercept, const Value& reach,
                               const Value& row_norm, const Value& scale) {
  const Value rounding = (magnitude(score) + 2.0 * magnitude(intercept)) * (4 * epsilon);
  const Value error = reach * row_norm * scale + rounding;
  if constexpr (is_single<Real>) {
    return error + (rounded<Real>(score + error) - rounded<Real>(score - error));
  } else {
    return error;
  }
}

template <class Rows, int n_lanes, bool is_smooth, bool watches>
void take_epoch(Lanes<n_lanes, typename Rows::Real> lanes, const Rows& X, const double* row_norms,
                const Settings& settings, int64_t n_rows, int64_t width) {
  using Real = typename Rows::Real;
  using Value = Numbers<n_lanes>;
  using Member = double Lane<Real>::*;
  // In double precision, the length after a step follows from the length before it. In single
  // precision, that would ignore how coefficients were rounded. For sparse rows, scikit-learn sums
  // only over the columns of the row.
  constexpr bool counts_squares = watches && (is_single<Real> || Rows::is_sparse);
  const auto member = [&](Member which) { return of<n_lanes>(lanes, which); };
  const Value zero = alike<n_lanes>(0.0), one = alike<n_lanes>(1.0), two = one + one;
  const Value smallest = alike<n_lanes>(smallest_scale<Real>);
  const Value is_idle = member(&Lane<Real>::is_idle), alpha = member(&Lane<Real>::alpha);
  const Value threshold = alike<n_lanes>(settings.loss == Loss::hinge ? 1.0 : 0.0);
  const Value eta0 = member(&Lane<Real>::eta0), start = apply<n_lanes>(alpha, optimal_start);
  const Value penalty = alpha * (settings.penalty_counts ? 0.5 : 0.0);
  const double slack = slack_of(width);
  const bool averages = settings.average_from > 0;

  Value intercept = member(&Lane<Real>::intercept), scale = member(&Lane<Real>::scale);
  Value mean = member(&Lane<Real>::average_intercept);
  Value average_a = member(&Lane<Real>::average_a), average_b = member(&Lane<Real>::average_b);
  Value t = next_step<n_lanes>(lanes, n_rows);
  Value squared = member(&Lane<Real>::squared), stretch = squared;
  Value reach = numbers<n_lanes>(
      [&](int k) { return (std::sqrt(squared_length(lanes[k]->w, width)) + shortest) * slack; });
  Value farthest = zero, objective = zero, product = one, doubt = zero;

  const Real *label[n_lanes], *importance[n_lanes];
  const std::int32_t* order[n_lanes];
  int64_t first[n_lanes], index[n_lanes], row[n_lanes], next[n_lanes];
  for (int k = 0; k < n_lanes; ++k) {
    label[k] = lanes[k]->label;
    importance[k] = lanes[k]->importance;
    order[k] = lanes[k]->order;
    first[k] = lanes[k]->first_row;
    index[k] = order[k][0];
    row[k] = first[k] + index[k];
  }
  bool is_far = false;
  if constexpr (!Rows::is_sparse) is_far = n_rows * X.width > fits_second_cache;
  Value dot;
  if constexpr (is_smooth) {
    dot = dots_in_order<n_lanes>(lanes, X, row);
  } else {
    dot = dots_in_any_order<n_lanes>(lanes, X, row);
  }

  for (int64_t i = 0; i < n_rows; ++i) {
    const Value y = numbers<n_lanes>([&](int k) { return double(label[k][index[k]]); });
    const Value weight = numbers<n_lanes>([&](int k) { return double(importance[k][index[k]]); });
    const Value row_norm = numbers<n_lanes>([&](int k) { return row_norms[row[k]]; });
    const Value eta = step_size<n_lanes>(settings, alpha, eta0, start, t);
    Value shrink = one;
    if (settings.penalized) {
      shrink = 1.0 - eta * alpha;
      shrink = rounded<Real>(where_at_most(shrink, zero, zero, shrink));
      if constexpr (n_lanes > 1) shrink = where_at_most(is_idle, zero, shrink, one);
    }
    const Value shrunk = scale * shrink;

    Value score = dot * scale, p = rounded<Real>(score) + intercept;
    Value update, loss;
    if constexpr (is_smooth) {
      const Smooth<n_lanes> now = smooth_loss<n_lanes>(settings.loss, y, p);
      const Value most = alike<n_lanes>(largest_gradient), least = zero - most;
      Value slope = where_at_most(now.slope, least, least, now.slope);
      slope = where_at_most(most, slope, most, slope);
      update = (0.0 - eta * slope) * weight;
      loss = now.loss;
      product *= now.factor;
      if constexpr (watches) doubt += (1.0 + magnitude(p)) * (8 * epsilon);
    } else {
      Value margin = p * y;
      Value near = nearness<Real>(score, intercept, reach, row_norm, scale);
      if (!all_above(magnitude(margin - threshold), near)) {
        dot = dots_in_order<n_lanes>(lanes, X, row);
        score = dot * scale;
        margin = (rounded<Real>(score) + intercept) * y;
        near = nearness<Real>(score, intercept, reach, row_norm, scale);
      }
      update = where_at_most(margin, threshold, eta * y * weight, zero);
      loss = where_at_most(margin, threshold, threshold - margin, zero);
      if constexpr (watches) doubt += near;
    }
    if constexpr (n_lanes > 1) update = where_at_most(is_idle, zero, update, zero);
    if constexpr (watches) objective += loss + penalty * squared;

    scale = shrunk;
    if (!all_above(scale, smallest)) {
      fold_scales<n_lanes>(lanes, width, average_a, scale, reach, farthest);
    }
    const Value factor = rounded<Real>(rounded<Real>(update) / rounded<Real>(scale));
    intercept += update * settings.intercept_step;
    if (averages) {
      const Value pull = (0.0 - rounded<Real>(update)) / scale;
      for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED {
        if (lane(pull, k) == 0.0) return;  // most rows of most separators
        add_to_average(lanes[k]->average, X, row[k], lane(average_a, k), lane(pull, k));
      });
      const Value n_averaged = t - static_cast<double>(settings.average_from) + 1.0;
      const Value share = 1.0 / rounded<Real>(n_averaged);
      const Value grown = average_b / (1.0 - share);  // infinite at the first step, unused there
      average_b = where_at_most(two, n_averaged, grown, average_b);
      average_a += where_at_most(one, n_averaged, share * average_b * scale, zero);
      mean += where_at_most(one, n_averaged, (intercept - mean) / n_averaged, zero);
    }
    t += 1.0;

    const int64_t following = i + 1 < n_rows ? i + 1 : i;
    for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED {
      index[k] = order[k][following];
      next[k] = first[k] + index[k];
    });
    if constexpr (!Rows::is_sparse) {
      if (is_far && i + rows_ahead < n_rows) {
        for_each_lane<n_lanes>(
            [&](int k) SKLIQUID_INLINED { prefetch(X, first[k] + order[k][i + rows_ahead]); });
      }
    }
    Value squares = zero;
    const Value before = dot;
    dot =
        add_rows<is_smooth, counts_squares, n_lanes>(lanes, X, row, update, factor, next, squares);
    for_each_lane<n_lanes>([&](int k) SKLIQUID_INLINED { row[k] = next[k]; });

    reach += magnitude(factor) * row_norm * slack;
    if constexpr (watches) {
      squared *= rounded<Real>(shrink * shrink);
      if constexpr (counts_squares) {
        squared = where_at_most(magnitude(update), zero, squared, squares * (scale * scale));
      } else {
        const Value pull = 2.0 * (before * shrunk) * update;
        const Value length = row_norm - shortest;
        const Value push = (update * length) * (update * length);
        squared += pull + push;
        stretch += magnitude(pull) + push + squared;
      }
      if constexpr (is_smooth) {
        if (i % most_factors == most_factors - 1) {
          objective += apply<n_lanes>(product, [](double number) { return std::log(number); });
          product = one;
        }
      }
    }
  }

  if constexpr (watches && is_smooth) {
    objective += apply<n_lanes>(product, [](double number) { return std::log(number); });
  }
  const Value of_squared = stretch * (2.0 * static_cast<double>(n_rows) * (slack + 16 * epsilon));
  const double of_objective = (slack + 8 * precision<Real>)*(Rows::is_sparse ? 2.0 : 1.0);
  doubt += penalty * of_squared + objective * of_objective;
  for (int k = 0; k < n_lanes; ++k) {
    Lane<Real>& its = *lanes[k];
    its.intercept = lane(intercept, k);
    its.average_intercept = lane(mean, k);
    its.average_a = lane(average_a, k);
    its.average_b = lane(average_b, k);
    its.scale = its.is_idle ? 1.0 : lane(scale, k);
    its.objective = lane(objective, k);
    its.doubt = lane(doubt, k);
    its.reach = std::fmax(lane(farthest, k), lane(reach, k));
    its.squared = lane(squared, k);
    if (watches && !counts_squares) {
      its.squared = squared_length(its.w, width) * (its.scale * its.scale);
    }
  }
}

}  // namespace
}  // namespace SKLIQUID_INSTRUCTIONS
