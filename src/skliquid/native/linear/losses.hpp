// Losses and step sizes, as scikit-learn computes them.

#pragma once

#include "linear/kernels.hpp"
#include "linear/vectors.hpp"

namespace SKLIQUID_INSTRUCTIONS {
namespace {

using skliquid::LearningRate;
using skliquid::Loss;
using skliquid::Settings;

constexpr double largest_gradient = 1e12;
constexpr double lowest_score = -37.0;  // below, scikit-learn's log_loss is only the exponential
constexpr double smallest_double = 5e-324;

SKLIQUID_INLINE bool has_threshold(const Settings& s) {
  return s.loss == Loss::hinge || s.loss == Loss::perceptron;
}

SKLIQUID_INLINE bool watches_objective(const Settings& s) {
  return s.tol > -INFINITY && s.max_iter > 1;
}

// Return the first step number of the schedule "optimal": `optimal_init` in scikit-learn.
SKLIQUID_INLINE double optimal_start(double alpha) {
  return alpha > 0 ? 1.0 / (std::sqrt(1.0 / std::sqrt(alpha)) * alpha) : 0.0;
}

template <int n_lanes, class Function>
SKLIQUID_INLINE Numbers<n_lanes> apply(const Numbers<n_lanes>& value, const Function& function) {
  return numbers<n_lanes>([&](int k) { return function(lane(value, k)); });
}

template <int n_lanes>
SKLIQUID_INLINE Numbers<n_lanes> step_size(const Settings& s, const Numbers<n_lanes>& alpha,
                                           const Numbers<n_lanes>& eta0,
                                           const Numbers<n_lanes>& start,
                                           const Numbers<n_lanes>& t) {
  if (s.learning_rate == LearningRate::optimal) return 1.0 / (alpha * (start + t - 1.0));
  if (s.learning_rate == LearningRate::constant) return eta0;
  const double first = std::pow(lane(t, 0), s.power_t);
  return eta0 / numbers<n_lanes>([&](int k) {  // separators at the same step share one power
           return lane(t, k) == lane(t, 0) ? first : std::pow(lane(t, k), s.power_t);
         });
}

// A smooth loss of predictions, and its derivative `slope`. The loss is `loss` plus the logarithm
// of `factor`: one logarithm of a product of factors is cheaper than one logarithm per step.
template <int n_lanes>
struct Smooth {
  Numbers<n_lanes> slope, loss, factor;
};

// Labels are 0 and 1 for log_loss, else -1 and 1. Comparisons with NaN have the same results as in
// scikit-learn.
template <int n_lanes>
SKLIQUID_INLINE Smooth<n_lanes> smooth_loss(Loss kind, const Numbers<n_lanes>& y,
                                            const Numbers<n_lanes>& p) {
  using Value = Numbers<n_lanes>;
  const Value zero = alike<n_lanes>(0.0), one = alike<n_lanes>(1.0);
  if (kind == Loss::log_loss) {
    const Value power = apply<n_lanes>(
        p, [](double number) { return std::exp(number > lowest_score ? -number : number); });
    const Value slope = ((1.0 - y) - y * power) / (1.0 + power);
    const Value small = where_at_most(power, one, power, 1.0 / power);
    return {where_at_most(p, alike<n_lanes>(lowest_score), power - y, slope),
            where_at_most(p, zero, zero, p) - y * p, 1.0 + small};
  }
  const Value z = p * y, gap = 1.0 - z, slope = -2.0 * y * gap, loss = gap * gap;
  if (kind == Loss::squared_hinge) {
    const Value least = alike<n_lanes>(smallest_double);
    return {where_at_most(least, gap, slope, zero), where_at_most(least, gap, loss, zero), one};
  }
  const Value far = alike<n_lanes>(-1.0);
  return {where_at_most(one, z, zero, where_at_most(far, z, slope, -4.0 * y)),
          where_at_most(one, z, zero, where_at_most(far, z, loss, -4.0 * z)), one};
}

}  // namespace
}  // namespace SKLIQUID_INSTRUCTIONS
