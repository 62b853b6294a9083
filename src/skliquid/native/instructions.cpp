// Which kernels this processor can run: the widest instructions, unless others are asked for.

#include <atomic>
#include <cstring>

#include "linear.hpp"

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

}  // namespace

const Kernels* const* available_kernels(int& n) {
  n = available().n;
  return available().each;
}

const Kernels& kernels() {
  const Kernels* now = chosen.load(std::memory_order_relaxed);
  return now ? *now : *available().each[available().n - 1];
}

bool choose_kernels(const char* name) {
  for (int k = 0; k < available().n; ++k) {
    if (std::strcmp(available().each[k]->name, name) != 0) continue;
    chosen.store(available().each[k]);
    return true;
  }
  return false;
}

}  // namespace skliquid
