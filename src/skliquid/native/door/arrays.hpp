// Checked arrays from Python: dtype, number of dimensions, memory layout, write access.

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace skliquid {

namespace nb = nanobind;

// Raise a ValueError. The message names the argument, the rule, the value and the way out.
[[noreturn]] inline void refuse(const std::string& message) {
  throw nb::value_error(message.c_str());
}

inline void require(bool holds, const char* message) {
  if (!holds) refuse(message);
}

inline std::string text(std::int64_t number) { return std::to_string(number); }

// The name of a dtype, and its format characters in the buffer protocol.
template <class T>
struct Kind;
template <>
struct Kind<double> {
  static constexpr const char *name = "float64", *letters = "d";
};
template <>
struct Kind<float> {
  static constexpr const char *name = "float32", *letters = "f";
};
template <>
struct Kind<std::int64_t> {
  static constexpr const char *name = "int64", *letters = "lq";
};
template <>
struct Kind<std::int32_t> {
  static constexpr const char *name = "int32", *letters = "il";
};
template <>
struct Kind<std::uint32_t> {
  static constexpr const char *name = "uint32", *letters = "IL";
};
template <>
struct Kind<std::uint16_t> {
  static constexpr const char *name = "uint16", *letters = "H";
};
template <>
struct Kind<std::uint8_t> {
  static constexpr const char *name = "uint8", *letters = "B";
};
template <>
struct Kind<bool> {
  static constexpr const char *name = "bool", *letters = "?";
};

// A C-contiguous array that a Python object exports. The object cannot be resized while this
// exists.
class Array {
  Py_buffer buffer{};
  const char* name;

 public:
  enum class Use { read, write };

 private:
  Use use;

 public:
  Array(nb::handle object, const char* argument, int n_dimensions, Use use_)
      : name(argument), use(use_) {
    const int flags = PyBUF_FORMAT | PyBUF_ND | PyBUF_STRIDES;
    if (PyObject_GetBuffer(object.ptr(), &buffer, flags) != 0) {
      PyErr_Clear();
      throw nb::type_error(
          (std::string(name) + " must be an array in memory: convert it with numpy.asarray.")
              .c_str());
    }
    try {
      check(n_dimensions);
    } catch (...) {
      PyBuffer_Release(&buffer);
      throw;
    }
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { PyBuffer_Release(&buffer); }

  std::int64_t size(int dimension) const { return buffer.shape[dimension]; }
  int item_bytes() const { return static_cast<int>(buffer.itemsize); }

  template <class T>
  bool holds() const {
    const char* format = buffer.format ? buffer.format : "B";
    bool is_known = false;
    for (const char* letter = Kind<T>::letters; *letter; ++letter) is_known |= *format == *letter;
    return is_known && format[1] == '\0' && buffer.itemsize == sizeof(T);
  }

  template <class T>
  T* as() const {
    if (!holds<T>()) {
      refuse(std::string(name) + " must hold " + Kind<T>::name + ": got the format '" +
             (buffer.format ? buffer.format : "B") + "'. Convert it with astype.");
    }
    return static_cast<T*>(buffer.buf);
  }

  // Return the data as float or double, to match the precision of other arrays.
  void* as_real(bool is_single) const {
    return is_single ? static_cast<void*>(as<float>()) : static_cast<void*>(as<double>());
  }

  void expect_size(int dimension, std::int64_t expected, const char* what) const {
    if (size(dimension) == expected) return;
    refuse(std::string(name) + " must have " + text(expected) + " " + what + ": got " +
           text(size(dimension)) + ". Pass arrays that belong together.");
  }

  // Check that the numbers at positions `start` to `stop` are in the range from `first` to `end`.
  // `stop` and `end` are excluded.
  template <class T>
  void expect_range(std::int64_t first, std::int64_t end, std::int64_t start,
                    std::int64_t stop) const {
    const T* numbers = as<T>();
    if (start >= stop) return;
    T least = numbers[start], most = least;
    for (std::int64_t i = start; i < stop; ++i) {
      least = numbers[i] < least ? numbers[i] : least;
      most = numbers[i] > most ? numbers[i] : most;
    }
    if (least >= first && most < end) return;
    refuse(std::string(name) + " must be from " + text(first) + " to " + text(end - 1) + ": got " +
           text(least < first ? least : most) + ". Pass arrays that belong together.");
  }
  template <class T>
  void expect_range(std::int64_t first, std::int64_t end) const {
    expect_range<T>(first, end, 0, size(0));
  }

  // Check that the arrays do not overlap, unless both are only read.
  void expect_apart(const Array& other) const {
    if (this == &other || (use == Use::read && other.use == Use::read)) return;
    const char *mine = static_cast<const char*>(buffer.buf),
               *its = static_cast<const char*>(other.buffer.buf);
    if (buffer.len == 0 || other.buffer.len == 0) return;
    if (mine + buffer.len <= its || its + other.buffer.len <= mine) return;
    refuse(std::string(name) + " must not share memory with " + other.name +
           ": one of them is written to. Copy it.");
  }

 private:
  void check(int n_dimensions) const {
    const std::string subject(name);
    if (buffer.ndim != n_dimensions) {
      refuse(subject + " must have " + text(n_dimensions) + " dimension(s): got " +
             text(buffer.ndim) + ". Reshape it.");
    }
    if (!PyBuffer_IsContiguous(&buffer, 'C')) {
      refuse(subject +
             " must be C-contiguous: got another layout. Copy it with "
             "numpy.ascontiguousarray.");
    }
    if (use == Use::write && buffer.readonly) {
      refuse(subject + " must be writable: got a read-only array. Copy it.");
    }
    if (reinterpret_cast<std::uintptr_t>(buffer.buf) % alignment() != 0) {
      refuse(subject + " must be aligned to its item size: got another address. Copy it.");
    }
  }

  std::uintptr_t alignment() const {
    const auto n = static_cast<std::uintptr_t>(buffer.itemsize);
    return n == 2 || n == 4 || n == 8 ? n : 1;
  }
};

// Check that no array that is written to shares memory with another.
inline void expect_apart(const std::vector<const Array*>& arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) arrays[i]->expect_apart(*arrays[k]);
  }
}

}  // namespace skliquid
