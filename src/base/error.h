// SPDX-License-Identifier: Apache-2.0
//
// The three kinds of error, kept apart:
//  - a programming error is ASSAY_ASSERT: it prints and aborts, and no input can reach it;
//  - an expected failure of a case is Result<T>: a code and a message naming the thing and its
//  place;
//  - a user error is UserError(what, where, hint), thrown and caught in main only (exit code 2).
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace assay {

enum class ErrorCode {
  kInvalid,      // the request or the data makes no sense
  kUnsupported,  // sensible, but this engine, device or build cannot
  kNotFound,     // a named thing does not exist
  kIo,           // the operating system refused
  kCorrupt,      // outside data is damaged
  kOutOfMemory,
  kTimeout,
  kCancelled,
  kDiverged,  // a loss became NaN or infinite
  kCrashed,   // a worker process died
  kInternal,  // a library threw what we did not foresee
};

// "out-of-memory"; and back, for errors that crossed a process border as text.
std::string_view error_code_name(ErrorCode code);
std::optional<ErrorCode> error_code_of(std::string_view name);

// message says what happened; place says where (a file, a node, a field) and may be empty; hint
// says what to do about it, where that is known (a command to type).
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string place = {};
  std::string hint = {};

  // "message (place)", or "message" without a place.
  std::string text() const;
};

// A value or an Error. Not thread-safe; as cheap as the variant it is.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

// What the user did wrong, where, and what to do about it. Caught in main, printed as
// "error: WHAT (WHERE)" and "hint: HINT", exit code 2.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& what, std::string where = "", std::string hint = "")
      : std::runtime_error(what), where_(std::move(where)), hint_(std::move(hint)) {}

  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

 private:
  std::string where_;
  std::string hint_;
};

[[noreturn]] void assertion_failed(const char* condition, std::string_view message,
                                   const char* file, int line);

#define ASSAY_ASSERT(condition, message)                                    \
  do {                                                                      \
    if (!(condition)) [[unlikely]]                                          \
      ::assay::assertion_failed(#condition, (message), __FILE__, __LINE__); \
  } while (false)

// Returns the error of a Result<void> (or of any Result whose value is not needed) to the caller.
#define ASSAY_TRY(expression)                                   \
  do {                                                          \
    if (auto assay_result_ = (expression); !assay_result_.ok()) \
      return std::move(assay_result_).error();                  \
  } while (false)

#define ASSAY_CONCAT_INNER_(a, b) a##b
#define ASSAY_CONCAT_(a, b) ASSAY_CONCAT_INNER_(a, b)
// ASSAY_ASSIGN(auto x, f()): x is the value of f(), or its error is returned to the caller.
#define ASSAY_ASSIGN(declaration, expression) \
  ASSAY_ASSIGN_INNER_(ASSAY_CONCAT_(assay_result_, __LINE__), declaration, expression)
#define ASSAY_ASSIGN_INNER_(temporary, declaration, expression) \
  auto temporary = (expression);                                \
  if (!temporary.ok()) return std::move(temporary).error();     \
  declaration = std::move(temporary).value()

}  // namespace assay
