// The kernels for one instruction set. This file is compiled once for each; SKLIQUID_INSTRUCTIONS
// names it, and is the namespace of all that is compiled, so that the linker never takes a function
// made for one processor where another was meant.

#include <type_traits>

#include "cosines.hpp"
#include "training.hpp"
#include "voting.hpp"

#define SKLIQUID_TEXT_OF(name) #name
#define SKLIQUID_TEXT(name) SKLIQUID_TEXT_OF(name)

namespace SKLIQUID_INSTRUCTIONS {

extern const skliquid::Kernels kernels;
const skliquid::Kernels kernels = {
    SKLIQUID_TEXT(SKLIQUID_INSTRUCTIONS),
    n_side_by_side,
    scratch_size,
    train,
    count_steps,
    score_and_judge,
    vote_by_scores,
    row_norms,
    cosines,
};

}  // namespace SKLIQUID_INSTRUCTIONS
