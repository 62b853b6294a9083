// Vectors of numbers: one register if it is wide enough, else pairs of narrower vectors.
//
// `Four` has one double for each of four separators. A `Block<Real>` is eight numbers of a row.
// Both work with any instruction set, and with compilers that have no vector types. Operations are
// never fused, and reordered only in sums "in any order".

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if !defined(__has_builtin)
#define __has_builtin(name) 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SKLIQUID_INLINE inline __attribute__((always_inline))
#define SKLIQUID_INLINED __attribute__((always_inline))  // the same, for lambdas
#define SKLIQUID_PREFETCH(address) __builtin_prefetch(address)
#else
#define SKLIQUID_INLINE __forceinline
#define SKLIQUID_INLINED
#define SKLIQUID_PREFETCH(address) ((void)(address))
#define SKLIQUID_PLAIN_VECTORS
#endif

namespace SKLIQUID_INSTRUCTIONS {
namespace {

constexpr int block_size = 8;

template <class T, int n>
struct Pair;

template <class T, int n>
struct VectorOf {
  using type = Pair<T, n>;
};
template <class T>
struct VectorOf<T, 1> {
  using type = T;
};

// Registers of this instruction set.
#if !defined(SKLIQUID_PLAIN_VECTORS)
typedef double TwoDoubles __attribute__((vector_size(16)));
typedef float FourSingles __attribute__((vector_size(16)));
template <>
struct VectorOf<double, 2> {
  using type = TwoDoubles;
};
template <>
struct VectorOf<float, 4> {
  using type = FourSingles;
};
#if defined(__AVX__)
typedef double FourDoubles __attribute__((vector_size(32)));
typedef float EightSingles __attribute__((vector_size(32)));
template <>
struct VectorOf<double, 4> {
  using type = FourDoubles;
};
template <>
struct VectorOf<float, 8> {
  using type = EightSingles;
};
#endif
#if defined(__AVX512F__)
typedef double EightDoubles __attribute__((vector_size(64)));
template <>
struct VectorOf<double, 8> {
  using type = EightDoubles;
};
#endif
#endif

template <class T, int n>
using Vector = typename VectorOf<T, n>::type;

template <class T, int n>
struct Pair {
  Vector<T, n / 2> low, high;
};

using Four = Vector<double, 4>;
using Doubles = Vector<double, block_size>;
template <class Real>
using Block = Vector<Real, block_size>;

// Arithmetic on pairs. The compiler provides it for registers.
#define SKLIQUID_OPERATOR(symbol)                                                        \
  template <class T, int n>                                                              \
  SKLIQUID_INLINE Pair<T, n> operator symbol(const Pair<T, n>& a, const Pair<T, n>& b) { \
    return {a.low symbol b.low, a.high symbol b.high};                                   \
  }                                                                                      \
  template <class T, int n>                                                              \
  SKLIQUID_INLINE Pair<T, n> operator symbol(const Pair<T, n>& a, T b) {                 \
    return {a.low symbol b, a.high symbol b};                                            \
  }                                                                                      \
  template <class T, int n>                                                              \
  SKLIQUID_INLINE Pair<T, n> operator symbol(T a, const Pair<T, n>& b) {                 \
    return {a symbol b.low, a symbol b.high};                                            \
  }                                                                                      \
  template <class T, int n, class Other>                                                 \
  SKLIQUID_INLINE Pair<T, n>& operator symbol## = (Pair<T, n> & a, const Other& b) {     \
    return a = a symbol b;                                                               \
  }
SKLIQUID_OPERATOR(+)
SKLIQUID_OPERATOR(-)
SKLIQUID_OPERATOR(*)
SKLIQUID_OPERATOR(/)
#undef SKLIQUID_OPERATOR

// Restricts a template to vectors in one register: no pairs, no single numbers.
template <class T>
using IfRegister = decltype(std::declval<T>()[0]);

// Access to single numbers of a vector.

SKLIQUID_INLINE double lane(double value, int) { return value; }
template <class Register, class = IfRegister<Register>>
SKLIQUID_INLINE auto lane(const Register& value, int k) {
  return value[k];
}
template <class T, int n>
SKLIQUID_INLINE T lane(const Pair<T, n>& value, int k) {
  return k < n / 2 ? lane(value.low, k) : lane(value.high, k - n / 2);
}

SKLIQUID_INLINE void set_lane(double& value, int, double number) { value = number; }
template <class Register, class = IfRegister<Register>>
SKLIQUID_INLINE void set_lane(Register& value, int k, double number) {
  value[k] = number;
}
template <class T, int n>
SKLIQUID_INLINE void set_lane(Pair<T, n>& value, int k, double number) {
  k < n / 2 ? set_lane(value.low, k, number) : set_lane(value.high, k - n / 2, number);
}

// Loads and stores, which need no alignment. Pairs are copied by halves: copying them as a whole
// would go through memory.

template <class Value>
struct Memory {
  template <class T>
  SKLIQUID_INLINE static Value read(const T* from) {
    Value value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  template <class T>
  SKLIQUID_INLINE static void write(const Value& value, T* to) {
    std::memcpy(to, &value, sizeof value);
  }
};
template <class T, int n>
struct Memory<Pair<T, n>> {
  using Half = Memory<Vector<T, n / 2>>;
  SKLIQUID_INLINE static Pair<T, n> read(const T* from) {
    return {Half::read(from), Half::read(from + n / 2)};
  }
  SKLIQUID_INLINE static void write(const Pair<T, n>& value, T* to) {
    Half::write(value.low, to);
    Half::write(value.high, to + n / 2);
  }
};

template <class Real>
SKLIQUID_INLINE Block<Real> load(const Real* from) {
  return Memory<Block<Real>>::read(from);
}
template <class Real>
SKLIQUID_INLINE void store(const Block<Real>& block, Real* to) {
  Memory<Block<Real>>::write(block, to);
}

template <class Value>
struct Spread {
  SKLIQUID_INLINE static Value of(double number) { return number - Value{}; }  // -0.0 stays -0.0
};
template <>
struct Spread<double> {
  SKLIQUID_INLINE static double of(double number) { return number; }
};
template <class T, int n>
struct Spread<Pair<T, n>> {
  SKLIQUID_INLINE static Pair<T, n> of(double number) {
    return {Spread<Vector<T, n / 2>>::of(number), Spread<Vector<T, n / 2>>::of(number)};
  }
};
SKLIQUID_INLINE Doubles spread(double number) { return Spread<Doubles>::of(number); }

// Comparisons.

SKLIQUID_INLINE double where_at_most(double value, double limit, double then, double otherwise) {
  return value <= limit ? then : otherwise;
}
template <class Register, class = IfRegister<Register>>
SKLIQUID_INLINE Register where_at_most(const Register& value, const Register& limit,
                                       const Register& then, const Register& otherwise) {
  return value <= limit ? then : otherwise;
}
template <class T, int n>
SKLIQUID_INLINE Pair<T, n> where_at_most(const Pair<T, n>& value, const Pair<T, n>& limit,
                                         const Pair<T, n>& then, const Pair<T, n>& otherwise) {
  return {where_at_most(value.low, limit.low, then.low, otherwise.low),
          where_at_most(value.high, limit.high, then.high, otherwise.high)};
}

SKLIQUID_INLINE bool all_above(double value, double limit) { return value > limit; }
#if defined(SKLIQUID_PLAIN_VECTORS)
#elif defined(__AVX__)
SKLIQUID_INLINE bool all_above(FourDoubles value, FourDoubles limit) {
  return _mm256_movemask_pd((__m256d)(value > limit)) == 15;
}
#elif defined(__SSE2__)
SKLIQUID_INLINE bool all_above(TwoDoubles value, TwoDoubles limit) {
  return _mm_movemask_pd((__m128d)(value > limit)) == 3;
}
#else
SKLIQUID_INLINE bool all_above(TwoDoubles value, TwoDoubles limit) {
  const auto above = value > limit;
  return (above[0] & above[1]) != 0;
}
#endif
template <class T, int n>
SKLIQUID_INLINE bool all_above(const Pair<T, n>& value, const Pair<T, n>& limit) {
  return all_above(value.low, limit.low) && all_above(value.high, limit.high);
}

SKLIQUID_INLINE double magnitude(double value) { return std::fabs(value); }
template <class Register, class = IfRegister<Register>>
SKLIQUID_INLINE Register magnitude(Register value) {
  for (std::size_t k = 0; k < sizeof value / sizeof(double); ++k) value[k] = std::fabs(value[k]);
  return value;
}
template <class T, int n>
SKLIQUID_INLINE Pair<T, n> magnitude(const Pair<T, n>& value) {
  return {magnitude(value.low), magnitude(value.high)};
}

// Return the bitwise OR of numbers. A zero of any sign, combined with -0.0, gives -0.0.
SKLIQUID_INLINE double either_bits(double a, double b) {
  std::uint64_t bits[2];
  std::memcpy(bits, &a, sizeof a);
  std::memcpy(bits + 1, &b, sizeof b);
  bits[0] |= bits[1];
  std::memcpy(&a, bits, sizeof a);
  return a;
}
#if !defined(SKLIQUID_PLAIN_VECTORS)
template <class Register, class = IfRegister<Register>>
SKLIQUID_INLINE Register either_bits(const Register& a, const Register& b) {
  using Bits = decltype(a <= b);
  return (Register)((Bits)a | (Bits)b);
}
#endif
template <class T, int n>
SKLIQUID_INLINE Pair<T, n> either_bits(const Pair<T, n>& a, const Pair<T, n>& b) {
  return {either_bits(a.low, b.low), either_bits(a.high, b.high)};
}

// Conversions between precisions.

SKLIQUID_INLINE Doubles widened(const Block<double>& block) { return block; }
SKLIQUID_INLINE Doubles widened(const Block<float>& block) {
#if defined(SKLIQUID_PLAIN_VECTORS) || !defined(__SSE2__)
  double numbers[block_size];
  for (int k = 0; k < block_size; ++k) numbers[k] = lane(block, k);
  return load(numbers);
#elif defined(__AVX512F__)  // with a mask of ones, else GCC warns about its own header
  return (Doubles)_mm512_maskz_cvtps_pd(0xFF, (__m256)block);
#elif defined(__AVX__)
  return {(Four)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)block)),
          (Four)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)block, 1))};
#else
  const __m128 low = (__m128)block.low, high = (__m128)block.high;
  return {{_mm_cvtps_pd(low), _mm_cvtps_pd(_mm_movehl_ps(low, low))},
          {_mm_cvtps_pd(high), _mm_cvtps_pd(_mm_movehl_ps(high, high))}};
#endif
}

SKLIQUID_INLINE void narrow(const Doubles& block, Block<double>& to) { to = block; }
SKLIQUID_INLINE void narrow(const Doubles& block, Block<float>& to) {
#if defined(SKLIQUID_PLAIN_VECTORS) || !defined(__SSE2__)
  float numbers[block_size];
  for (int k = 0; k < block_size; ++k) numbers[k] = static_cast<float>(lane(block, k));
  to = load(numbers);
#elif defined(__AVX512F__)
  to = (Block<float>)_mm512_maskz_cvtpd_ps(0xFF, (__m512d)block);
#elif defined(__AVX__)
  const __m128 low = _mm256_cvtpd_ps((__m256d)block.low);
  to = (Block<float>)_mm256_insertf128_ps(_mm256_castps128_ps256(low),
                                          _mm256_cvtpd_ps((__m256d)block.high), 1);
#else
  const auto four = [](const Four& from) SKLIQUID_INLINED {
    return _mm_movelh_ps(_mm_cvtpd_ps((__m128d)from.low), _mm_cvtpd_ps((__m128d)from.high));
  };
  to = {four(block.low), four(block.high)};
#endif
}

SKLIQUID_INLINE double to_single(double value) { return static_cast<float>(value); }
#if defined(__AVX__) && !defined(SKLIQUID_PLAIN_VECTORS)
SKLIQUID_INLINE Four to_single(const Four& value) {
  return (Four)_mm256_cvtps_pd(_mm256_cvtpd_ps((__m256d)value));
}
#elif defined(__SSE2__) && !defined(SKLIQUID_PLAIN_VECTORS)
SKLIQUID_INLINE Four to_single(const Four& value) {
  return {(TwoDoubles)_mm_cvtps_pd(_mm_cvtpd_ps((__m128d)value.low)),
          (TwoDoubles)_mm_cvtps_pd(_mm_cvtpd_ps((__m128d)value.high))};
}
#else
SKLIQUID_INLINE Four to_single(const Four& value) {
  return {{to_single(lane(value, 0)), to_single(lane(value, 1))},
          {to_single(lane(value, 2)), to_single(lane(value, 3))}};
}
#endif

// Round numbers to the precision of `Real`.
template <class Real, class Value>
SKLIQUID_INLINE Value rounded(const Value& value) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return to_single(value);
  } else {
    return value;
  }
}

// The two halves of a block.

#if defined(__AVX512F__) && !defined(SKLIQUID_PLAIN_VECTORS)
#if __has_builtin(__builtin_shufflevector)
SKLIQUID_INLINE Four low_half(const Doubles& block) {
  return __builtin_shufflevector(block, block, 0, 1, 2, 3);
}
SKLIQUID_INLINE Four high_half(const Doubles& block) {
  return __builtin_shufflevector(block, block, 4, 5, 6, 7);
}
#else  // GCC 11 and older: through memory
SKLIQUID_INLINE Four low_half(const Doubles& block) { return Memory<Four>::read(&block); }
SKLIQUID_INLINE Four high_half(const Doubles& block) {
  return Memory<Four>::read(reinterpret_cast<const char*>(&block) + sizeof(Four));
}
#endif
#else
SKLIQUID_INLINE Four low_half(const Doubles& block) { return block.low; }
SKLIQUID_INLINE Four high_half(const Doubles& block) { return block.high; }
#endif

// Sums in any order, of one block or of four at once.

SKLIQUID_INLINE double total(const Doubles& block) {
  const Four half = low_half(block) + high_half(block);
  return (lane(half, 0) + lane(half, 2)) + (lane(half, 1) + lane(half, 3));
}

SKLIQUID_INLINE Four totals(const Doubles& a, const Doubles& b, const Doubles& c,
                            const Doubles& d) {
#if defined(__AVX__) && !defined(SKLIQUID_PLAIN_VECTORS)
  const auto half = [](const Doubles& block)
                        SKLIQUID_INLINED { return (__m256d)(low_half(block) + high_half(block)); };
  const __m256d ab = _mm256_hadd_pd(half(a), half(b)), cd = _mm256_hadd_pd(half(c), half(d));
  return (Four)_mm256_permute2f128_pd(ab, cd, 0x20) + (Four)_mm256_permute2f128_pd(ab, cd, 0x31);
#else
  Four sums = Four();
  set_lane(sums, 0, total(a));
  set_lane(sums, 1, total(b));
  set_lane(sums, 2, total(c));
  set_lane(sums, 3, total(d));
  return sums;
#endif
}

// Add eight numbers to a sum in order, or eight numbers to each of four sums.

SKLIQUID_INLINE void add_in_order(double& sum, const Doubles (&numbers)[1]) {
  for (int i = 0; i < block_size; ++i) sum += lane(numbers[0], i);
}

#if defined(__AVX__) && !defined(SKLIQUID_PLAIN_VECTORS)
SKLIQUID_INLINE void add_four_in_order(Four& sum, Four a, Four b, Four c, Four d) {
  const __m256d ab[2] = {_mm256_unpacklo_pd((__m256d)a, (__m256d)b),
                         _mm256_unpackhi_pd((__m256d)a, (__m256d)b)};
  const __m256d cd[2] = {_mm256_unpacklo_pd((__m256d)c, (__m256d)d),
                         _mm256_unpackhi_pd((__m256d)c, (__m256d)d)};
  sum += (Four)_mm256_permute2f128_pd(ab[0], cd[0], 0x20);
  sum += (Four)_mm256_permute2f128_pd(ab[1], cd[1], 0x20);
  sum += (Four)_mm256_permute2f128_pd(ab[0], cd[0], 0x31);
  sum += (Four)_mm256_permute2f128_pd(ab[1], cd[1], 0x31);
}
#else
SKLIQUID_INLINE void add_four_in_order(Four& sum, const Four& a, const Four& b, const Four& c,
                                       const Four& d) {
  for (int i = 0; i < 4; ++i) {
    sum.low += Vector<double, 2>{lane(a, i), lane(b, i)};
    sum.high += Vector<double, 2>{lane(c, i), lane(d, i)};
  }
}
#endif

SKLIQUID_INLINE void add_in_order(Four& sum, const Doubles (&numbers)[4]) {
  add_four_in_order(sum, low_half(numbers[0]), low_half(numbers[1]), low_half(numbers[2]),
                    low_half(numbers[3]));
  add_four_in_order(sum, high_half(numbers[0]), high_half(numbers[1]), high_half(numbers[2]),
                    high_half(numbers[3]));
}

// One number per separator: a double for one separator, `Four` for four of them.

template <int n_lanes>
using Numbers = Vector<double, n_lanes>;

// Call a function for each separator. The loop is unrolled by hand, so that indices are constants.
template <int n_lanes, class Function>
SKLIQUID_INLINE void for_each_lane(const Function& function) {
  function(0);
  if constexpr (n_lanes == 4) {
    function(1);
    function(2);
    function(3);
  }
}

template <int n_lanes, class Function>
SKLIQUID_INLINE Numbers<n_lanes> numbers(const Function& of) {
  if constexpr (n_lanes == 1) {
    return of(0);
  } else {
#if defined(__AVX__) && !defined(SKLIQUID_PLAIN_VECTORS)
    return Four{of(0), of(1), of(2), of(3)};
#else
    return Four{{of(0), of(1)}, {of(2), of(3)}};
#endif
  }
}

template <int n_lanes>
SKLIQUID_INLINE Numbers<n_lanes> alike(double number) {
  return numbers<n_lanes>([=](int) { return number; });
}

}  // namespace
}  // namespace SKLIQUID_INSTRUCTIONS
