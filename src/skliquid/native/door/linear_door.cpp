// Python functions that call the linear kernels. They check every array before a kernel runs.
//
// Kernels trust their arguments. An index out of range, or arrays of inconsistent sizes, raise a
// ValueError here.

#include <nanobind/nanobind.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "door/arrays.hpp"
#include "door/threads.hpp"
#include "linear/kernels.hpp"
#include "linear/seeds.hpp"

namespace skliquid {
namespace {

using Use = Array::Use;
using std::int64_t;

constexpr int64_t most_separators = int64_t{1} << 40;
constexpr int64_t padding = 8;  // a row of coefficients ends with fewer zeros than this

// Rows of X, dense (an array) or sparse (data, indices, indptr, n_columns).
class CheckedRows {
  nb::object parts[3];
  alignas(Array) unsigned char room[3][sizeof(Array)];
  int n_arrays = 0;

  Array& open(nb::handle object, const char* name, int n_dimensions) {
    parts[n_arrays] = nb::borrow(object);
    Array* array = new (room[n_arrays]) Array(object, name, n_dimensions, Use::read);
    ++n_arrays;
    return *array;
  }

  void close() {
    while (n_arrays > 0) reinterpret_cast<Array*>(room[--n_arrays])->~Array();
  }

 public:
  Rows rows{};
  int64_t longest = 0;  // most values stored in a row

  CheckedRows(nb::handle object, int64_t width, bool is_single) {
    try {
      if (PyTuple_Check(object.ptr())) {
        check_sparse(object, width, is_single);
      } else {
        check_dense(object, width, is_single);
      }
    } catch (...) {
      close();
      throw;
    }
  }
  CheckedRows(const CheckedRows&) = delete;
  CheckedRows& operator=(const CheckedRows&) = delete;
  ~CheckedRows() { close(); }

  void add_to(std::vector<const Array*>& arrays) const {
    for (int k = 0; k < n_arrays; ++k) arrays.push_back(reinterpret_cast<const Array*>(room[k]));
  }

 private:
  static void check_width(int64_t n_columns, int64_t width) {
    if (n_columns >= 0 && n_columns <= width && width - n_columns < padding) return;
    refuse(std::string("X must not be ") + (n_columns > width ? "wider" : "narrower") +
           " than the coefficients: got " + text(n_columns) + " columns for " + text(width) +
           ". Pass the columns that voters were trained on.");
  }

  void check_dense(nb::handle object, int64_t width, bool is_single) {
    const Array& X = open(object, "X", 2);
    rows = {X.as_real(is_single), nullptr, nullptr, X.size(0), X.size(1)};
    longest = rows.n_columns;
    check_width(rows.n_columns, width);
  }

  void check_sparse(nb::handle object, int64_t width, bool is_single) {
    require(PyTuple_Size(object.ptr()) == 4, "X must be data, indices, indptr and n_columns.");
    const auto part = [&](int k) { return nb::handle(PyTuple_GetItem(object.ptr(), k)); };
    const Array& data = open(part(0), "X.data", 1);
    const Array& indices = open(part(1), "X.indices", 1);
    const Array& indptr = open(part(2), "X.indptr", 1);
    int64_t n_columns = 0;
    require(nb::try_cast(part(3), n_columns), "X.n_columns must be a whole number.");
    check_width(n_columns, width);
    require(indptr.size(0) > 0, "X.indptr must not be empty: it begins with 0.");
    const int64_t* starts = indptr.as<int64_t>();
    rows = {data.as_real(is_single), indices.as<std::int32_t>(), starts, indptr.size(0) - 1,
            n_columns};
    require(starts[0] >= 0, "X.indptr must begin with 0: got a negative number.");
    for (int64_t i = 0; i < rows.n_rows; ++i) {
      if (starts[i + 1] < starts[i]) {
        refuse("X.indptr must not decrease: it does after row " + text(i) +
               ". Build X with scipy.sparse.csr_array.");
      }
      const int64_t n = starts[i + 1] - starts[i];
      longest = n > longest ? n : longest;
    }
    const int64_t n_stored = starts[rows.n_rows];
    if (n_stored > data.size(0) || n_stored > indices.size(0)) {
      refuse("X.indptr must not end behind the numbers of X: it ends at " + text(n_stored) +
             " of " + text(indices.size(0)) + " indices and " + text(data.size(0)) +
             " numbers. Build X with scipy.sparse.csr_array.");
    }
    indices.expect_range<std::int32_t>(0, n_columns, starts[0], n_stored);
    // rows are sparse if this pointer is not null, even if they store no values
    static const std::int32_t no_index = 0;
    if (!rows.indices) rows.indices = &no_index;
  }
};

// Coefficients, their averages and the records of separators.
class CheckedSeparators {
  Array coef, average, each;

 public:
  Separators separators;

  CheckedSeparators(nb::handle coef_, nb::handle average_, nb::handle each_)
      : coef(coef_, "coef", 2, Use::write),
        average(average_, "average", 2, Use::write),
        each(each_, "separators", 1, Use::write) {
    const bool is_single = coef.holds<float>();
    const int64_t n = coef.size(0);
    separators = {
        coef.as_real(is_single), average.as_real(is_single), nullptr, n, coef.size(1), is_single};
    require(n <= most_separators, "coef must have fewer than 2**40 rows.");
    average.expect_size(0, n, "rows");
    each.expect_size(0, n * static_cast<int64_t>(sizeof(Separator)), "bytes");
    separators.each = reinterpret_cast<Separator*>(each.as<std::uint8_t>());
    require(reinterpret_cast<std::uintptr_t>(separators.each) % alignof(Separator) == 0,
            "separators must be aligned: copy them.");
  }

  void add_to(std::vector<const Array*>& arrays) const {
    arrays.insert(arrays.end(), {&coef, &average, &each});
  }

  void expect_averages(int64_t average_from) const {
    if (average_from > 0) average.expect_size(1, separators.width, "columns");
  }
};

// Check that indices of separators are unique: two threads must not train the same separator.
void check_chosen(const Array& chosen, int64_t n_separators) {
  chosen.expect_range<int64_t>(0, n_separators);
  std::vector<bool> is_taken(static_cast<std::size_t>(n_separators));
  const int64_t* numbers = chosen.as<int64_t>();
  for (int64_t k = 0; k < chosen.size(0); ++k) {
    const auto m = static_cast<std::size_t>(numbers[k]);
    if (is_taken[m]) {
      refuse("chosen must hold each separator once: got " + text(numbers[k]) +
             " twice. Pass a set of voters.");
    }
    is_taken[m] = true;
  }
}

void check_in_range(int64_t value, int64_t end, const char* field) {
  if (value >= 0 && value < end) return;
  refuse(std::string("separators must have a ") + field + " from 0 to " + text(end - 1) + ": got " +
         text(value) + ". Pass arrays that belong together.");
}

template <class T>
T setting(nb::handle settings, int k, const char* name) {
  T value{};
  if (!nb::try_cast(nb::handle(PyTuple_GetItem(settings.ptr(), k)), value)) {
    refuse(std::string("settings must hold numbers: ") + name + " has another type.");
  }
  return value;
}

Settings settings_of(nb::handle tuple) {
  require(PyTuple_Check(tuple.ptr()) && PyTuple_Size(tuple.ptr()) == 11,
          "settings must be skliquid.native.Settings.");
  const auto whole = [&](int k, const char* name) { return setting<int64_t>(tuple, k, name); };
  const auto real = [&](int k, const char* name) { return setting<double>(tuple, k, name); };
  const auto flag = [&](int k, const char* name) { return setting<bool>(tuple, k, name); };
  const int64_t loss = whole(0, "loss"), learning_rate = whole(1, "learning_rate");
  require(loss >= 0 && loss <= static_cast<int64_t>(Loss::log_loss), "loss must be from 0 to 4.");
  require(learning_rate >= 0 && learning_rate <= static_cast<int64_t>(LearningRate::invscaling),
          "learning_rate must be from 0 to 2.");
  const Settings settings = {static_cast<Loss>(loss),      static_cast<LearningRate>(learning_rate),
                             real(2, "power_t"),           flag(3, "penalized"),
                             flag(4, "penalty_counts"),    real(5, "intercept_step"),
                             flag(6, "shuffles"),          whole(7, "average_from"),
                             whole(8, "max_iter"),         real(9, "tol"),
                             whole(10, "n_iter_no_change")};
  require(settings.max_iter >= 1, "max_iter must be at least 1.");
  require(settings.average_from >= 0, "average_from must not be negative.");
  require(settings.n_iter_no_change >= 1, "n_iter_no_change must be at least 1.");
  require(!std::isnan(settings.tol), "tol must be a number.");
  return settings;
}

void train(nb::handle coef, nb::handle average, nb::handle separators_, nb::handle chosen_,
           nb::handle rows_, nb::handle labels_, nb::handle importance_, nb::handle row_norms_,
           nb::handle orders_, nb::handle settings_, int64_t n_threads) {
  const Settings settings = settings_of(settings_);
  const CheckedSeparators checked(coef, average, separators_);
  const Separators& separators = checked.separators;
  checked.expect_averages(settings.average_from);
  const Array chosen(chosen_, "chosen", 1, Use::read), labels(labels_, "labels", 2, Use::read);
  const Array importance(importance_, "importance", 2, Use::read);
  const Array row_norms(row_norms_, "row_norms", 1, Use::read);
  const Array orders(orders_, "orders", 2, Use::write);
  const CheckedRows X(rows_, separators.width, separators.is_single);
  std::vector<const Array*> arrays = {&chosen, &labels, &importance, &row_norms, &orders};
  checked.add_to(arrays);
  X.add_to(arrays);
  expect_apart(arrays);
  check_chosen(chosen, separators.n_separators);

  std::atomic<int64_t> queue{0};
  std::atomic<bool> stop{false};
  const int64_t n_rows = labels.size(1);
  const Training training = {separators,
                             chosen.as<int64_t>(),
                             chosen.size(0),
                             X.rows,
                             n_rows,
                             labels.as_real(separators.is_single),
                             importance.as_real(separators.is_single),
                             row_norms.as<double>(),
                             orders.as<std::int32_t>(),
                             orders.size(0),
                             settings,
                             &queue,
                             &stop};
  require(n_rows >= 1, "labels must have at least one column: there is nothing to learn from.");
  require(n_rows <= std::numeric_limits<std::int32_t>::max(),
          "labels must have fewer than 2**31 columns: train on fewer rows at once.");
  importance.expect_size(1, n_rows, "columns");
  row_norms.expect_size(0, X.rows.n_rows, "numbers");
  if (training.n_orders > 0) {
    orders.expect_size(0, separators.n_separators, "rows");
    orders.expect_size(1, n_rows, "columns");
  }
  for (int64_t k = 0; k < training.n_chosen; ++k) {
    const int64_t m = training.chosen[k];
    const Separator& separator = separators.each[m];
    check_in_range(separator.problem, labels.size(0), "problem");
    check_in_range(separator.weights, importance.size(0), "weights");
    check_in_range(separator.first_row, X.rows.n_rows - n_rows + 1, "first_row");
  }

  const Kernels& loops = kernels();
  const int64_t n_groups = training.n_chosen / loops.n_side_by_side(training);
  n_threads = usable_threads(n_threads, n_groups);
  const auto room = static_cast<std::size_t>(loops.scratch_size(training));
  std::vector<std::vector<char>> scratch(static_cast<std::size_t>(n_threads));
  for (auto& each : scratch) each.resize(room);
  ask_from_now_on();
  {
    nb::gil_scoped_release no_gil;
    share(
        n_threads,
        [&](int64_t k) {
          loops.train(training, scratch[static_cast<std::size_t>(k)].data(),
                      k == 0 ? is_interrupted : nullptr);
        },
        [&] {
          if (is_interrupted()) stop.store(true);
        });
  }
  if (PyErr_Occurred()) throw nb::python_error();
}

void count_steps(nb::handle coef, nb::handle average, nb::handle separators_, nb::handle chosen_,
                 int64_t n_separators, int64_t n_rows, int64_t average_from) {
  const CheckedSeparators checked(coef, average, separators_);
  const Array chosen(chosen_, "chosen", 1, Use::read);
  std::vector<const Array*> arrays = {&chosen};
  checked.add_to(arrays);
  expect_apart(arrays);
  require(n_rows >= 0, "n_rows must not be negative.");
  require(average_from >= 0, "average_from must not be negative.");
  checked.expect_averages(average_from);
  check_chosen(chosen, checked.separators.n_separators);
  require(n_separators >= 1 && chosen.size(0) % n_separators == 0,
          "chosen must hold n_separators separators of each voter.");
  kernels().count_steps(checked.separators, chosen.as<int64_t>(), chosen.size(0), n_separators,
                        n_rows, average_from);
}

// Coefficients of voters, and the arrays that receive their votes.
class CheckedVoting {
  Array coef, intercept, separators, row_norms, votes, doubtful;

 public:
  Voting voting;

  CheckedVoting(nb::handle coef_, nb::handle intercept_, nb::handle separators_,
                int64_t n_separators, nb::handle row_norms_, nb::handle votes_,
                nb::handle doubtful_)
      : coef(coef_, "coef", 2, Use::read),
        intercept(intercept_, "intercept", 1, Use::read),
        separators(separators_, "separators", 1, Use::read),
        row_norms(row_norms_, "row_norms", 1, Use::read),
        votes(votes_, "votes", 2, Use::write),
        doubtful(doubtful_, "doubtful", 1, Use::write) {
    const bool is_single = coef.holds<float>();
    require(n_separators >= 1, "n_separators must be at least 1.");
    voting = {coef.as_real(is_single),
              intercept.as<double>(),
              coef.size(1),
              is_single,
              separators.as<int64_t>(),
              separators.size(0) / n_separators,
              n_separators,
              coef.size(1),
              row_norms.as<double>(),
              row_norms.size(0),
              nullptr,
              votes.size(1),
              votes.item_bytes(),
              doubtful.as<bool>()};
    intercept.expect_size(0, coef.size(0), "numbers");
    separators.expect_range<int64_t>(0, coef.size(0));
    separators.expect_size(0, voting.n_voters * n_separators, "separators");
    votes.expect_size(0, voting.n_voters, "rows");
    doubtful.expect_size(0, voting.n_voters, "flags");
    voting.votes = places_of(n_separators);
  }

  void expect_all_apart(std::vector<const Array*> others) const {
    others.insert(others.end(), {&coef, &intercept, &separators, &row_norms, &votes, &doubtful});
    expect_apart(others);
  }

 private:
  void* places_of(int64_t n_separators) const {
    if (votes.holds<std::uint32_t>()) return votes.as<std::uint32_t>();
    if (votes.holds<std::uint16_t>()) {
      require(n_separators <= 1 << 16, "votes must hold as many classes as there are: use uint32.");
      return votes.as<std::uint16_t>();
    }
    require(n_separators <= 1 << 8, "votes must hold as many classes as there are: use uint16.");
    return votes.as<std::uint8_t>();
  }
};

void vote(nb::handle coef, nb::handle intercept, nb::handle separators, int64_t n_separators,
          nb::handle rows, nb::handle row_norms, nb::handle votes, nb::handle doubtful) {
  CheckedVoting checked(coef, intercept, separators, n_separators, row_norms, votes, doubtful);
  Voting& voting = checked.voting;
  const CheckedRows X(rows, voting.width, voting.is_single);
  require(voting.n_rows == X.rows.n_rows, "row_norms must have one number per row of X.");
  require(voting.vote_stride == X.rows.n_rows, "votes must have one column per row of X.");
  voting.n_terms = X.longest;
  std::vector<const Array*> arrays;
  X.add_to(arrays);
  checked.expect_all_apart(arrays);
  if (voting.n_voters == 0) return;
  std::vector<double> scores(static_cast<std::size_t>(n_separators * voting.n_rows));
  nb::gil_scoped_release no_gil;
  kernels().score_and_judge(voting, X.rows, scores.data());
}

void vote_by_scores(nb::handle scores_, int64_t start, nb::handle coef, nb::handle intercept,
                    nb::handle separators, int64_t n_separators, nb::handle row_norms,
                    nb::handle votes, nb::handle doubtful) {
  CheckedVoting checked(coef, intercept, separators, n_separators, row_norms, votes, doubtful);
  Voting voting = checked.voting;
  const Array scores(scores_, "scores", 2, Use::read);
  const void* numbers = scores.as_real(voting.is_single);
  const int64_t n = scores.size(1);
  scores.expect_size(0, voting.n_voters * n_separators, "rows");
  checked.expect_all_apart({&scores});
  require(voting.n_rows == voting.vote_stride, "row_norms must have one number per vote.");
  require(start >= 0 && start <= voting.vote_stride && n <= voting.vote_stride - start,
          "start must leave room for the columns of scores.");
  voting.row_norms += start;
  voting.n_rows = n;
  voting.votes = static_cast<char*>(voting.votes) + start * voting.vote_bytes;
  nb::gil_scoped_release no_gil;
  kernels().vote_by_scores(voting, numbers, n);
}

// Return whether a sparse row stores a column twice.
bool has_repeated_columns(const Rows& rows) {
  bool is_sorted = true;
  for (int64_t row = 0; row < rows.n_rows; ++row) {
    for (int64_t k = rows.indptr[row] + 1; k < rows.indptr[row + 1]; ++k) {
      is_sorted &= rows.indices[k - 1] < rows.indices[k];
    }
  }
  if (is_sorted) return false;
  std::vector<int64_t> seen_in(static_cast<std::size_t>(rows.n_columns), -1);
  for (int64_t row = 0; row < rows.n_rows; ++row) {
    for (int64_t k = rows.indptr[row]; k < rows.indptr[row + 1]; ++k) {
      int64_t& last = seen_in[static_cast<std::size_t>(rows.indices[k])];
      if (last == row) return true;
      last = row;
    }
  }
  return false;
}

// Fill in the length of each row, plus a tiny number. If a sparse row stores a column twice, its
// values do not give its length, and no error bound holds. Then all lengths are infinite, and all
// sums are computed in order.
void row_norms(nb::handle rows, nb::handle coef_, nb::handle norms_) {
  const Array coef(coef_, "coef", 2, Use::read), norms(norms_, "norms", 1, Use::write);
  const bool is_single = coef.holds<float>();
  const CheckedRows X(rows, coef.size(1), is_single);
  double* numbers = norms.as<double>();
  norms.expect_size(0, X.rows.n_rows, "numbers");
  std::vector<const Array*> arrays = {&norms};
  X.add_to(arrays);
  expect_apart(arrays);
  if (X.rows.indices && has_repeated_columns(X.rows)) {
    for (int64_t row = 0; row < X.rows.n_rows; ++row) numbers[row] = INFINITY;
    return;
  }
  nb::gil_scoped_release no_gil;
  kernels().row_norms(X.rows, is_single, numbers);
}

void cosines(nb::handle values_, double factor) {
  const Array values(values_, "values", 1, Use::write);
  double* numbers = values.as<double>();
  nb::gil_scoped_release no_gil;
  kernels().cosines(numbers, values.size(0), factor);
}

void draw_seeds(nb::handle seeds_, nb::handle draws_) {
  const Array seeds(seeds_, "seeds", 1, Use::read), draws(draws_, "draws", 2, Use::write);
  seeds.expect_range<int64_t>(0, int64_t{1} << 32);
  draws.expect_size(0, seeds.size(0), "rows");
  expect_apart({&seeds, &draws});
  require(draws.size(1) <= most_draws, "draws must have at most 227 columns: ask numpy for more.");
  for (int64_t k = 0; k < seeds.size(0); ++k) {
    legacy_draws(static_cast<std::uint32_t>(seeds.as<int64_t>()[k]), draws.size(1),
                 draws.as<int64_t>() + k * draws.size(1));
  }
}

}  // namespace

void add_linear_functions(nb::module_& m) {
  m.def("train", &train, nb::arg("coef"), nb::arg("average"), nb::arg("separators"),
        nb::arg("chosen"), nb::arg("rows"), nb::arg("labels"), nb::arg("importance"),
        nb::arg("row_norms"), nb::arg("orders"), nb::arg("settings"), nb::arg("n_threads"));
  m.def("count_steps", &count_steps, nb::arg("coef"), nb::arg("average"), nb::arg("separators"),
        nb::arg("chosen"), nb::arg("n_separators"), nb::arg("n_rows"), nb::arg("average_from"));
  m.def("vote", &vote, nb::arg("coef"), nb::arg("intercept"), nb::arg("separators"),
        nb::arg("n_separators"), nb::arg("rows"), nb::arg("row_norms"), nb::arg("votes"),
        nb::arg("doubtful"));
  m.def("vote_by_scores", &vote_by_scores, nb::arg("scores"), nb::arg("start"), nb::arg("coef"),
        nb::arg("intercept"), nb::arg("separators"), nb::arg("n_separators"), nb::arg("row_norms"),
        nb::arg("votes"), nb::arg("doubtful"));
  m.def("row_norms", &row_norms, nb::arg("rows"), nb::arg("coef"), nb::arg("norms"));
  m.def("cosines", &cosines, nb::arg("values"), nb::arg("factor"));
  m.def("draw_seeds", &draw_seeds, nb::arg("seeds"), nb::arg("draws"));
}

}  // namespace skliquid
