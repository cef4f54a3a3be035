// SPDX-License-Identifier: Apache-2.0
#include "engine/null.h"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/weights.h"

namespace assay {
namespace {

enum class FaultKind : uint8_t { kNone, kHang, kCrash, kNan, kSlow, kError, kMemory };

constexpr std::array<std::pair<std::string_view, FaultKind>, 6> kFaultNames = {{
    {"hang", FaultKind::kHang},
    {"crash", FaultKind::kCrash},
    {"nan", FaultKind::kNan},
    {"slow", FaultKind::kSlow},
    {"error", FaultKind::kError},
    {"memory", FaultKind::kMemory},
}};

struct Fault {
  static constexpr int64_t kCompile = -1;
  FaultKind kind = FaultKind::kNone;
  int64_t when = 0;
};

Result<Fault> parse_fault(std::string_view text) {
  const auto wrong = [text] {
    return Error{ErrorCode::kInvalid,
                 "cannot read the fault '" + std::string(text) + "', expected KIND@WHEN",
                 "ASSAY_NULL_FAULT"};
  };
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return wrong();
  Fault fault;
  for (const auto& [name, kind] : kFaultNames) {
    if (text.substr(0, at) == name) fault.kind = kind;
  }
  if (fault.kind == FaultKind::kNone) return wrong();
  const std::string_view when = text.substr(at + 1);
  if (when == "compile" && fault.kind != FaultKind::kNan) {
    fault.when = Fault::kCompile;
    return fault;
  }
  const Result<int64_t> number = parse_int(when);
  if (!number.ok() || *number < 0) return wrong();
  fault.when = *number;
  return fault;
}

// Carries out a fault when its moment has come.
class FaultInjector {
 public:
  explicit FaultInjector(Fault fault) : fault_(fault) {}

  Result<void> at(int64_t call) {
    if (fault_.kind == FaultKind::kNone || call < fault_.when) [[likely]] {
      return {};
    }
    return strike(call);
  }
  bool loss_is_nan(int64_t step) const {
    return fault_.kind == FaultKind::kNan && step >= fault_.when;
  }

 private:
  Result<void> strike(int64_t call) {
    // A fault of compile() does not come back in later calls, and one of a call not in compile().
    const bool compiling = call == Fault::kCompile;
    if (compiling != (fault_.when == Fault::kCompile)) return {};
    switch (fault_.kind) {
      case FaultKind::kHang:
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
      case FaultKind::kCrash:
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
        break;
      case FaultKind::kSlow:
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        break;
      case FaultKind::kError:
        return Error{ErrorCode::kInternal, "fault asked for by ASSAY_NULL_FAULT", "null engine"};
      case FaultKind::kMemory:
        hoard_.emplace_back(size_t{32} << 20, '\1');
        break;
      case FaultKind::kNone:
      case FaultKind::kNan:
        break;
    }
    return {};
  }

  Fault fault_;
  std::vector<std::string> hoard_;
};

class NullProgram final : public Program {
 public:
  explicit NullProgram(Fault fault) : faults_(fault) {}

  Result<Ticket> enqueue(std::span<const TensorView> /*inputs*/,
                         std::span<const TensorView> outputs) override {
    ASSAY_TRY(faults_.at(calls_));
    for (const TensorView& output : outputs) {
      std::memset(output.data, 0, static_cast<size_t>(output.bytes()));
    }
    return static_cast<Ticket>(calls_++);
  }
  Result<void> wait(Ticket /*ticket*/) override { return {}; }
  Json as_compiled() const override { return Json{{"computes", "nothing"}}; }
  MemoryUse memory() const override { return {}; }

 private:
  FaultInjector faults_;
  int64_t calls_ = 0;
};

class NullTrainer final : public Trainer {
 public:
  NullTrainer(Graph graph, RandomKey seed, Fault fault)
      : graph_(std::move(graph)), seed_(seed), faults_(fault) {}

  Result<void> accumulate(std::span<const TensorView> /*inputs*/, RandomKey /*key*/,
                          float /*weight*/) override {
    return faults_.at(steps_);
  }
  Result<void> apply(double /*rate*/) override {
    ++steps_;
    return {};
  }
  Result<double> loss() override {
    if (faults_.loss_is_nan(steps_)) return std::numeric_limits<double>::quiet_NaN();
    return std::log(10.0) / (1.0 + static_cast<double>(steps_) / 100.0);
  }
  Result<NamedTensors> state() override {
    if (tensors_.empty()) {
      ASSAY_ASSIGN(tensors_, initial_tensors(graph_, {}, seed_));
    }
    NamedTensors all = tensors_;
    all["optimizer.step"] = Tensor::vector_i64(std::array<int64_t, 1>{steps_});
    return all;
  }
  Result<void> set_state(const NamedTensors& state) override {
    ASSAY_TRY(check_complete(graph_, state));
    ASSAY_ASSIGN(NamedTensors tensors, initial_tensors(graph_, state, seed_));
    const auto step = state.find("optimizer.step");
    if (step == state.end() || step->second.dtype() != DType::kI64 ||
        step->second.elements() != 1) {
      return Error{ErrorCode::kInvalid, "state without its number of steps", "optimizer.step"};
    }
    tensors_ = std::move(tensors);
    steps_ = step->second.values<int64_t>()[0];
    return {};
  }
  Result<std::unique_ptr<Program>> program(const Graph& /*inference*/) override {
    return std::unique_ptr<Program>(std::make_unique<NullProgram>(Fault{}));
  }

 private:
  Graph graph_;
  RandomKey seed_;
  FaultInjector faults_;
  int64_t steps_ = 0;
  NamedTensors tensors_;  // made when first asked for
};

class NullEngine final : public Engine {
 public:
  NullEngine(std::string name, int devices, Fault fault)
      : name_(std::move(name)), devices_(devices), fault_(fault) {}

  std::string name() const override { return name_; }
  std::string version() const override { return "1"; }
  std::vector<Device> devices() const override {
    std::vector<Device> all;
    for (int i = 0; i < devices_; ++i) all.push_back(Device{DeviceKind::kNull, i});
    return all;
  }
  // The cpu is where any engine may be asked to run; of its own kind it has only so many.
  std::vector<Unsupported> unsupported(const Graph& /*graph*/, const Plan& plan) const override {
    const Device& wanted = plan.device;
    const bool own = wanted.kind == DeviceKind::kNull && wanted.index < devices_;
    if (own || wanted == Device{}) return {};
    return {
        {"", "",
         fmt::format("the null engine has {} pretend devices, no {}", devices_, wanted.text())}};
  }
  Result<std::unique_ptr<Program>> compile(const Graph& /*graph*/, const Plan& plan,
                                           const NamedTensors& /*weights*/,
                                           RandomKey /*seed*/) override {
    ASSAY_TRY(accept(plan));
    return std::unique_ptr<Program>(std::make_unique<NullProgram>(fault_));
  }
  Result<std::unique_ptr<Trainer>> trainer(const Graph& graph, const OptimizerConfig& /*optimizer*/,
                                           const Plan& plan, RandomKey seed,
                                           ProcessGroup* /*group*/) override {
    ASSAY_TRY(accept(plan));
    return std::unique_ptr<Trainer>(std::make_unique<NullTrainer>(graph, seed, fault_));
  }

 private:
  Result<void> accept(const Plan& plan) {
    // "cpu" is what a case says by default, and pretending has no place of its own.
    const bool pretend = plan.device.kind == DeviceKind::kNull && plan.device.index < devices_;
    if (!pretend && plan.device != Device{}) {
      return Error{ErrorCode::kUnsupported,
                   "the null engine has no device " + plan.device.text() + ", only " +
                       std::to_string(devices_) + " pretend one(s)",
                   ""};
    }
    return FaultInjector(fault_).at(Fault::kCompile);
  }

  std::string name_;
  int devices_;
  Fault fault_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_null_engine(const std::string& name) {
  constexpr std::string_view kPrefix = "null:";
  constexpr int64_t kMostDevices = 1024;
  int64_t devices = 1;
  if (name != "null") {
    const std::string_view text = name;
    const Result<int64_t> number =
        text.rfind(kPrefix, 0) == 0 ? parse_int(text.substr(kPrefix.size())) : Result<int64_t>(0);
    if (!number.ok() || *number < 1 || *number > kMostDevices) {
      return Error{ErrorCode::kInvalid,
                   "'" + name + "' is not null:N with N from 1 to " + std::to_string(kMostDevices),
                   "engine"};
    }
    devices = *number;
  }
  Fault fault;
  if (const char* text = std::getenv("ASSAY_NULL_FAULT"); text != nullptr && *text != '\0') {
    ASSAY_ASSIGN(fault, parse_fault(text));
  }
  return std::unique_ptr<Engine>(
      std::make_unique<NullEngine>(name, static_cast<int>(devices), fault));
}

}  // namespace assay
