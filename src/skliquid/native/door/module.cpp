// The Python module `_core`: its functions, and the choice of an instruction set.
//
// The linear kernels are compiled once per instruction set. The module uses the widest one that the
// processor supports, unless the caller selects another.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <string>

#include "door/arrays.hpp"
#include "linear/kernels.hpp"

namespace baseline {
extern const skliquid::Kernels kernels;
}
#if defined(SKLIQUID_WIDE_INSTRUCTIONS)
namespace avx2 {
extern const skliquid::Kernels kernels;
}
namespace avx512 {
extern const skliquid::Kernels kernels;
}
#endif

namespace skliquid {
namespace {

struct Available {
  const Kernels* each[3];
  int n = 0;
  Available() {
    each[n++] = &baseline::kernels;
#if defined(SKLIQUID_WIDE_INSTRUCTIONS)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) each[n++] = &avx2::kernels;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
      each[n++] = &avx512::kernels;
    }
#endif
  }
};

const Available& available() {
  static const Available all;
  return all;
}

std::atomic<const Kernels*> chosen{nullptr};

nb::list instruction_sets() {
  nb::list names;
  for (int k = 0; k < available().n; ++k) names.append(available().each[k]->name);
  return names;
}

void use_instructions(const std::string& name) {
  for (int k = 0; k < available().n; ++k) {
    if (name != available().each[k]->name) continue;
    chosen.store(available().each[k]);
    return;
  }
  refuse("name must be one of instruction_sets(): got '" + name + "'.");
}

}  // namespace

const Kernels& kernels() {
  const Kernels* now = chosen.load(std::memory_order_relaxed);
  return now ? *now : *available().each[available().n - 1];
}

void add_linear_functions(nb::module_& m);  // in linear_door.cpp
void add_tree_functions(nb::module_& m);    // in tree_door.cpp

NB_MODULE(_core, m) {
  m.doc() = "Inner loops of skliquid, compiled. Call them through skliquid.native.";
  m.attr("SOURCES") = SKLIQUID_SOURCES;
  add_linear_functions(m);
  add_tree_functions(m);
  m.def("instruction_sets", &instruction_sets);
  m.def("use_instructions", &use_instructions, nb::arg("name"));
  m.def("instructions", [] { return std::string(kernels().name); });
}

}  // namespace skliquid
