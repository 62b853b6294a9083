// What both parts of the door need: door.cpp for the linear kernels, tree_door.cpp for trees.

#pragma once

#include <nanobind/nanobind.h>

#include "arrays.hpp"

namespace skliquid {

constexpr std::int64_t most_threads = 1024;

inline void require(bool holds, const char* message) {
  if (!holds) refuse(message);
}

// Whether the user has pressed Ctrl-C, asked now and then. Only the calling thread asks.
void ask_from_now_on();
bool is_interrupted();

void add_trees(nb::module_& m);

}  // namespace skliquid
