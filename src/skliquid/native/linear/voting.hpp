// Votes of linear voters, and whether the order of a sum may have changed a vote.

#pragma once

#include "linear/epoch.hpp"

namespace SKLIQUID_INSTRUCTIONS {
namespace {

using skliquid::Voting;

// Fill in the dot products of coefficients and all rows, in any order.
template <class Real>
void fill_scores(const Real* w, const DenseRows<Real>& X, int64_t n_rows, Real* scores) {
  int64_t row = 0;
  for (; row + 4 <= n_rows; row += 4) {  // coefficients are loaded once for four rows
    const Real* x[4] = {X[row], X[row + 1], X[row + 2], X[row + 3]};
    Sums sums[4];
    int64_t j = 0;
    for (; j + block_size <= X.width; j += block_size) {
      const Block<Real> block = load(w + j);
      for (int k = 0; k < 4; ++k) sums[k].block += widened(block * load(x[k] + j));
    }
    for (; j < X.width; ++j) {
      for (int k = 0; k < 4; ++k) sums[k].rest += w[j] * x[k][j];
    }
    const Four all = totals(sums);
    for (int k = 0; k < 4; ++k) scores[row + k] = static_cast<Real>(lane(all, k));
  }
  for (; row < n_rows; ++row) scores[row] = static_cast<Real>(total(dot_in_any_order(w, X, row)));
}

template <class Real>
void fill_scores(const Real* w, const SparseRows<Real>& X, int64_t n_rows, Real* scores) {
  for (int64_t row = 0; row < n_rows; ++row) {
    scores[row] = static_cast<Real>(dot_in_any_order(w, X, row));
  }
}

// Fill in whether the second class wins. Return whether rounding errors may have decided a vote.
template <class Real, class Vote>
bool judge_two(const Real* scores, double intercept, double reach, const double* row_norms,
               int64_t n_rows, Vote* votes) {
  int64_t n_clear = 0;
  for (int64_t i = 0; i < n_rows; ++i) {
    const double score = scores[i] + intercept, size = std::fabs(score);
    votes[i] = score > 0;
    n_clear += (reach * (row_norms[i] + 1) < size) & (size < INFINITY);
  }
  return n_clear < n_rows;
}

// Fill in the class with the highest score. Return whether rounding errors may have decided a vote.
template <class Real, class Vote>
bool judge_many(const Real* scores, int64_t stride, const Voting& voting, const int64_t* separators,
                double reach, Vote* votes) {
  bool is_near = false;
  for (int64_t i = 0; i < voting.n_rows; ++i) {
    double best = -INFINITY, second = -INFINITY, nothing = 0.0;
    int64_t winner = 0;
    for (int64_t k = 0; k < voting.n_separators; ++k) {
      const double score = scores[k * stride + i] + voting.intercept[separators[k]];
      nothing += 0.0 * score;  // NaN if a score is not finite
      if (score > best) {
        second = best;
        best = score;
        winner = k;
      } else if (score > second) {
        second = score;
      }
    }
    votes[i] = static_cast<Vote>(winner);
    is_near |= !(best - second > reach * (voting.row_norms[i] + 1) + nothing);
  }
  return is_near;
}

// Fill in the votes of one voter from the scores of its separators.
template <class Real, class Vote>
void judge_voter(const Voting& voting, int64_t voter, const Real* scores, int64_t stride) {
  const int64_t* separators = voting.separators + voter * voting.n_separators;
  const double terms = static_cast<double>(voting.n_terms + 16);
  const double slack = 2.0 * terms * precision<Real>;
  double reach = 0.0;
  for (int64_t k = 0; k < voting.n_separators; ++k) {
    const Real* w = static_cast<const Real*>(voting.coef) + separators[k] * voting.width;
    const double length =
        std::sqrt(squared_length(w, voting.width)) + std::fabs(voting.intercept[separators[k]]);
    reach = std::fmax(reach, slack * (length + shortest));
  }
  Vote* votes = static_cast<Vote*>(voting.votes) + voter * voting.vote_stride;
  const bool is_near = voting.n_separators == 1
                           ? judge_two(scores, voting.intercept[separators[0]], reach,
                                       voting.row_norms, voting.n_rows, votes)
                           : judge_many(scores, stride, voting, separators, reach, votes);
  voting.doubtful[voter] |= is_near;
}

template <class Real, class Vote>
void judge_scores(const Voting& voting, const void* scores, int64_t stride) {
  for (int64_t voter = 0; voter < voting.n_voters; ++voter) {
    const Real* mine = static_cast<const Real*>(scores) + voter * voting.n_separators * stride;
    judge_voter<Real, Vote>(voting, voter, mine, stride);
  }
}

template <class Rows, class Vote>
void score_rows(const Voting& voting, const skliquid::Rows& rows, void* room) {
  using Real = typename Rows::Real;
  const Rows X(rows);
  Real* scores = static_cast<Real*>(room);  // of one voter
  for (int64_t voter = 0; voter < voting.n_voters; ++voter) {
    for (int64_t k = 0; k < voting.n_separators; ++k) {
      const int64_t m = voting.separators[voter * voting.n_separators + k];
      const Real* w = static_cast<const Real*>(voting.coef) + m * voting.width;
      fill_scores(w, X, voting.n_rows, scores + k * voting.n_rows);
    }
    judge_voter<Real, Vote>(voting, voter, scores, voting.n_rows);
  }
}

// Call `function` with a number of the type of votes.
template <class Function>
void by_vote(const Voting& voting, const Function& function) {
  if (voting.vote_bytes == 1) {
    function(std::uint8_t());
  } else if (voting.vote_bytes == 2) {
    function(std::uint16_t());
  } else {
    function(std::uint32_t());
  }
}

inline void score_and_judge(const Voting& voting, const skliquid::Rows& rows, void* scores) {
  by_vote(voting, [&](auto vote) {
    using Vote = decltype(vote);
    if (voting.is_single) {
      rows.indices ? score_rows<SparseRows<float>, Vote>(voting, rows, scores)
                   : score_rows<DenseRows<float>, Vote>(voting, rows, scores);
    } else {
      rows.indices ? score_rows<SparseRows<double>, Vote>(voting, rows, scores)
                   : score_rows<DenseRows<double>, Vote>(voting, rows, scores);
    }
  });
}

inline void vote_by_scores(const Voting& voting, const void* scores, int64_t score_stride) {
  by_vote(voting, [&](auto vote) {
    using Vote = decltype(vote);
    voting.is_single ? judge_scores<float, Vote>(voting, scores, score_stride)
                     : judge_scores<double, Vote>(voting, scores, score_stride);
  });
}

}  // namespace
}  // namespace SKLIQUID_INSTRUCTIONS
