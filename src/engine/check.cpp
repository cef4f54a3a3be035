// SPDX-License-Identifier: Apache-2.0
#include "engine/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json.h"
#include "engine/compare.h"
#include "engine/plugin.h"
#include "engine/weights.h"

namespace assay {
namespace {

Error disagreement(const std::string& what, const std::string& how, const std::string& place) {
  return Error{ErrorCode::kInvalid, "the engines disagree on " + what + ": " + how, place};
}

// What a program of two has found so far. A failure is final, a pass outweighs untrusted calls.
struct Findings {
  int64_t comparisons = 0;
  double worst_rel_error = 0;
  CheckVerdict verdict = CheckVerdict::kUntrusted;

  void add(const Comparison& comparison) {
    ++comparisons;
    worst_rel_error = std::isnan(comparison.max_rel_error)
                          ? comparison.max_rel_error
                          : std::max(worst_rel_error, comparison.max_rel_error);
    if (verdict == CheckVerdict::kFailed || comparison.verdict == CheckVerdict::kUntrusted) return;
    verdict = comparison.verdict;
  }
};

class CheckProgram final : public Program {
 public:
  CheckProgram(Graph graph, Precision precision, std::unique_ptr<Program> program,
               std::unique_ptr<Program> expected)
      : graph_(std::move(graph)),
        precision_(precision),
        program_(std::move(program)),
        expected_(std::move(expected)) {}

  Result<Ticket> enqueue(std::span<const TensorView> inputs,
                         std::span<const TensorView> outputs) override {
    ASSAY_TRY(program_->run(inputs, outputs));
    std::vector<Tensor> wanted;
    std::vector<TensorView> views;
    for (const TensorView& output : outputs) {
      wanted.push_back(Tensor::allocate(output.dtype, output.shape));
      views.push_back(wanted.back().view());
    }
    ASSAY_TRY(expected_->run(inputs, views));
    ASSAY_ASSIGN(const Tolerance tolerance, tolerance_for(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      ASSAY_ASSIGN(const Comparison comparison, compare(views[i], outputs[i], tolerance));
      findings_.add(comparison);
      if (comparison.verdict == CheckVerdict::kFailed) {
        return disagreement("output '" + graph_.value(graph_.outputs()[i]).name + "'",
                            comparison.text(), graph_.name());
      }
    }
    return static_cast<Ticket>(findings_.comparisons);
  }
  Result<void> wait(Ticket /*ticket*/) override { return {}; }

  Json as_compiled() const override {
    return Json{{"comparisons", findings_.comparisons},
                {"worst_relative_error", findings_.worst_rel_error},
                {"verdict", check_verdict_name(findings_.verdict)},
                {"checked", program_->as_compiled()},
                {"expected", expected_->as_compiled()}};
  }
  MemoryUse memory() const override { return program_->memory(); }

 private:
  Result<Tolerance> tolerance_for(std::span<const TensorView> inputs) const {
    std::map<std::string, int64_t> sizes;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorType& type = graph_.value(graph_.inputs()[i]).type;
      if (!type.shape) continue;
      for (size_t axis = 0; axis < type.shape->rank(); ++axis) {
        const Dim& dim = (*type.shape)[axis];
        if (!dim.known() && !dim.name().empty()) sizes[dim.name()] = inputs[i].shape[axis];
      }
    }
    ASSAY_ASSIGN(const Graph bound, bind_dimensions(graph_, sizes));
    return graph_tolerance(bound, precision_);
  }

  Graph graph_;
  Precision precision_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Program> expected_;
  Findings findings_;
};

class CheckTrainer final : public Trainer {
 public:
  CheckTrainer(std::unique_ptr<Trainer> trainer, std::unique_ptr<Trainer> expected,
               Precision precision)
      : trainer_(std::move(trainer)), expected_(std::move(expected)), precision_(precision) {}

  Result<void> accumulate(std::span<const TensorView> inputs, RandomKey key,
                          float weight) override {
    ASSAY_TRY(trainer_->accumulate(inputs, key, weight));
    return expected_->accumulate(inputs, key, weight);
  }
  Result<void> apply(double rate) override {
    ++steps_;
    ASSAY_TRY(trainer_->apply(rate));
    return expected_->apply(rate);
  }
  Result<double> loss() override {
    ASSAY_ASSIGN(const double loss, trainer_->loss());
    ASSAY_ASSIGN(const double wanted, expected_->loss());
    // Trajectories part exponentially; a step may multiply the error of the last one by this much.
    constexpr double kGrowth = 1.5;
    constexpr double kFirst = 256;  // c, in units of eps, of the first step
    const double allowed = kFirst * precision_eps(precision_) *
                           std::pow(kGrowth, static_cast<double>(std::min<int64_t>(steps_, 32))) *
                           std::max(1.0, std::abs(wanted));
    if (std::isnan(loss) != std::isnan(wanted) || std::abs(loss - wanted) > allowed) {
      return disagreement("the loss of step " + std::to_string(steps_),
                          std::to_string(loss) + " against " + std::to_string(wanted), "");
    }
    return loss;
  }
  Result<NamedTensors> state() override { return trainer_->state(); }
  Result<void> set_state(const NamedTensors& state) override {
    ASSAY_TRY(trainer_->set_state(state));
    return expected_->set_state(state);
  }
  Result<std::unique_ptr<Program>> program(const Graph& inference) override {
    return trainer_->program(inference);
  }

 private:
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Trainer> expected_;
  Precision precision_;
  int64_t steps_ = 0;
};

class CheckEngine final : public Engine {
 public:
  CheckEngine(std::shared_ptr<Engine> engine, std::shared_ptr<Engine> expected)
      : engine_(std::move(engine)), expected_(std::move(expected)) {}

  std::string name() const override { return "check:" + engine_->name() + "," + expected_->name(); }
  std::string version() const override { return engine_->version() + "," + expected_->version(); }
  std::vector<Device> devices() const override { return {Device{}}; }
  std::vector<Unsupported> unsupported(const Graph& graph, const Plan& plan) const override {
    std::vector<Unsupported> all = engine_->unsupported(graph, plan);
    for (Unsupported& reason : expected_->unsupported(graph, plan)) {
      all.push_back(std::move(reason));
    }
    return all;
  }
  Result<std::unique_ptr<Program>> compile(const Graph& graph, const Plan& plan,
                                           const NamedTensors& weights, RandomKey seed) override {
    // Drawn once, so that both have the same weights whatever their own way of drawing.
    ASSAY_ASSIGN(const NamedTensors all, initial_tensors(graph, weights, seed));
    ASSAY_ASSIGN(std::unique_ptr<Program> program, engine_->compile(graph, plan, all, seed));
    ASSAY_ASSIGN(std::unique_ptr<Program> expected, expected_->compile(graph, plan, all, seed));
    return std::unique_ptr<Program>(std::make_unique<CheckProgram>(
        graph, plan.precision, std::move(program), std::move(expected)));
  }
  Result<std::unique_ptr<Trainer>> trainer(const Graph& graph, const OptimizerConfig& optimizer,
                                           const Plan& plan, RandomKey seed,
                                           ProcessGroup* group) override {
    ASSAY_ASSIGN(std::unique_ptr<Trainer> trainer,
                 engine_->trainer(graph, optimizer, plan, seed, group));
    ASSAY_ASSIGN(std::unique_ptr<Trainer> expected,
                 expected_->trainer(graph, optimizer, plan, seed, group));
    return std::unique_ptr<Trainer>(
        std::make_unique<CheckTrainer>(std::move(trainer), std::move(expected), plan.precision));
  }

 private:
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Engine> expected_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_check_engine(const std::string& name) {
  constexpr std::string_view kPrefix = "check:";
  const std::string rest = name.rfind(kPrefix, 0) == 0 ? name.substr(kPrefix.size()) : "";
  // Colons belong to names ("check:null:2,reference"), commas do not: no engine name has one.
  const size_t comma = rest.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == rest.size() ||
      rest.find(',', comma + 1) != std::string::npos || rest.find("check:") != std::string::npos) {
    return Error{ErrorCode::kInvalid, "'" + name + "' is not check:A,B with two engines", "engine"};
  }
  ASSAY_ASSIGN(EngineHandle engine, load_engine(rest.substr(0, comma)));
  ASSAY_ASSIGN(EngineHandle expected, load_engine(rest.substr(comma + 1)));
  return make_check_engine(std::move(engine), std::move(expected));
}

std::unique_ptr<Engine> make_check_engine(std::shared_ptr<Engine> engine,
                                          std::shared_ptr<Engine> expected) {
  return std::make_unique<CheckEngine>(std::move(engine), std::move(expected));
}

}  // namespace assay
