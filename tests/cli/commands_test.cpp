// SPDX-License-Identifier: Apache-2.0
//
// Commands that measure nothing, driven as a user would.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/run_assay.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CommandsTest : public testing::Test {
 protected:
  Finished run(std::vector<std::string> arguments) {
    return run_assay(folder_.path(), std::move(arguments));
  }
  Json rows(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const Finished finished = run(std::move(arguments));
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto document = parse_json(finished.out, "stdout");
    if (!document.ok()) return Json::array();
    EXPECT_EQ((*document)["schema"], "assay/1");
    return (*document)["rows"];
  }
  ScratchFolder folder_;
};

TEST_F(CommandsTest, HelpNamesEveryCommand) {
  const Finished help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.err, IsEmpty());
  for (const Command& command : commands()) {
    if (!command.hidden) {
      EXPECT_THAT(help.out, HasSubstr("\n  " + command.name + " "));
    }
  }
  EXPECT_THAT(help.out, Not(HasSubstr("\n  worker")));
}

TEST_F(CommandsTest, EveryCommandExplainsItself) {
  for (const Command& command : commands()) {
    const Finished help = run({command.name, "--help"});
    EXPECT_EQ(help.code, 0);
    for (const Option& option : command.options) EXPECT_THAT(help.out, HasSubstr(option.name));
    EXPECT_EQ(run({"help", command.name}).out, help.out);
  }
}

TEST_F(CommandsTest, HelpFitsItsWidth) {
  for (const Command& command : commands())
    for (const std::string& line : split(command_text(command), '\n'))
      EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(CommandsTest, DocsAgreeWithHelp) {
  const auto docs = read_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs" / "commands.md");
  ASSERT_TRUE(docs.ok());
  EXPECT_EQ(*docs, run({"help", "--markdown"}).out)
      << "run: assay help --markdown > docs/commands.md";
}

TEST_F(CommandsTest, VersionIsOneLine) {
  EXPECT_THAT(run({"--version"}).out, testing::MatchesRegex("assay [0-9.]+\n"));
}

TEST_F(CommandsTest, WrongUseExitsWithTwoAndSaysWhy) {
  const Finished nothing = run({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.out, IsEmpty());
  const Finished unknown = run({"tarin"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("error: unknown command 'tarin'\nhint: did you mean 'assay train'?"));
  EXPECT_EQ(run({"--db", "x", "list"}).code, 2);
}

TEST_F(CommandsTest, ListsEveryKind) {
  std::set<std::string> kinds;
  for (const Json& row : rows({"list"})) kinds.insert(row["kind"].get<std::string>());
  for (const char* kind : {"workloads", "models", "datasets", "engines", "studies"})
    EXPECT_TRUE(kinds.contains(kind)) << kind;
  EXPECT_THAT(run({"list", "worklods"}).err, HasSubstr("did you mean 'workloads'"));
}

TEST_F(CommandsTest, ListsWorkloadsWithTheirTargets) {
  std::vector<std::string> variants;
  for (const Json& row : rows({"list", "workloads"})) {
    if (row["name"] != "image-classification") continue;
    variants.push_back(row["variant"]);
    EXPECT_EQ(row["metric"], "top1");
    EXPECT_GE(row["target"].get<double>(), 0.5);
    EXPECT_EQ(row["dataset"], row["variant"] == "small" ? "fashion-mnist" : "imagenet");
  }
  EXPECT_THAT(variants, testing::ElementsAre("small", "reference"));
  size_t names = 0;
  for (const Json& row : rows({"list"})) names += row["name"] == "image-classification" ? 1 : 0;
  EXPECT_EQ(names, 1U);
}

TEST_F(CommandsTest, ACatalogueDoesNotSayOfEveryLineThatItIsMeasured) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"schema", "train"}, {"list", "models"}, {"list", "studies"}, {"profile", "resnet"}}) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_THAT(finished.out, Not(HasSubstr("measured\n"))) << finished.out;
  }
}

TEST_F(CommandsTest, TheEnvironmentIsALineAField) {
  const std::string out = run({"env"}).out;
  EXPECT_THAT(out, HasSubstr("\nengines "));
  for (const std::string& line : split(out, '\n')) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(CommandsTest, EnvNamesTheMachine) {
  const Json row = rows({"env"}).at(0);
  for (const char* field : {"cpu_model", "memory_bytes", "kernel", "engines", "details"})
    EXPECT_FALSE(row[field].is_null()) << field << ": " << row["missing"];
  for (const auto& [field, value] : row.items())
    if (value.is_null()) {
      EXPECT_TRUE(row["missing"].contains(field)) << field;
    }
}

TEST_F(CommandsTest, ProfileCountsResNet50AsPublished) {
  const Json row = rows({"profile", "model:resnet"}).at(0);
  EXPECT_EQ(row["parameters"], 25557032);
  EXPECT_NEAR(row["macs"].get<double>(), 4.089e9, 0.01e9);
}

TEST_F(CommandsTest, ProfilesNodesThatAddUp) {
  const Json total = rows({"profile", "resnet", "--batch", "4"}).at(0);
  double flops = 0;
  for (const Json& row : rows({"profile", "resnet", "--batch", "4", "--per-node"}))
    flops += row["flops"].get<double>();
  EXPECT_NEAR(flops, total["flops"].get<double>(), 1e-9 * flops);
}

TEST_F(CommandsTest, ProfilesMemoryByPurpose) {
  const Json row = rows({"profile", "resnet", "--batch", "4"}).at(0);
  double purposes = 0;
  for (const char* purpose : {"parameter", "state", "constant", "input", "activation", "workspace"})
    purposes += row["peak_" + std::string(purpose) + "_bytes"].get<double>();
  EXPECT_EQ(purposes, row["peak_bytes"].get<double>());
  EXPECT_EQ(row["missing"]["largest_batch"], "no --memory was given");
}

TEST_F(CommandsTest, ProfileFindsTheLargestBatchThatFits) {
  const Json fit = rows({"profile", "resnet", "--memory", "400000000"}).at(0);
  const auto batch = fit["largest_batch"].get<int64_t>();
  const auto peak = [this](int64_t items) {
    return rows({"profile", "resnet", "--batch", std::to_string(items)})
        .at(0)["peak_bytes"]
        .get<int64_t>();
  };
  EXPECT_LE(peak(batch), 400'000'000);
  EXPECT_GT(peak(batch + 1), 400'000'000);
  const Json none = rows({"profile", "resnet", "--memory", "1000"}).at(0);
  EXPECT_THAT(none["missing"]["largest_batch"].get<std::string>(), HasSubstr("a batch of 1 needs"));
  const Json bound = rows({"profile", "resnet", "--memory", "9999", "--bind", "batch=2"}).at(0);
  EXPECT_THAT(bound["missing"]["largest_batch"].get<std::string>(), HasSubstr("--bind"));
}

TEST_F(CommandsTest, ProfileRefusesWhatItCannotRead) {
  const Finished file = run({"profile", "net.onnx"});
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, HasSubstr("net.onnx"));
  EXPECT_THAT(run({"profile", "folder/net"}).err, HasSubstr("no ONNX model"));
  EXPECT_THAT(run({"profile", "resnte"}).err, HasSubstr("did you mean 'resnet'"));
  EXPECT_THAT(run({"profile", "resnet", "--bind", "batch"}).err, HasSubstr("DIM=SIZE"));
  EXPECT_THAT(run({"profile", "resnet", "--variant", "tiny"}).err, HasSubstr("no variant 'tiny'"));
  const Finished train = run({"profile", "resnet", "--train"});
  EXPECT_EQ(train.code, 2);
  EXPECT_THAT(train.err, HasSubstr("the counts of training are not part of this version"));
}

TEST_F(CommandsTest, SchemaListsFields) {
  std::set<std::string> fields;
  for (const Json& row : rows({"schema", "train"})) fields.insert(row["field"].get<std::string>());
  for (const char* field : {"time_to_target_s", "seed", "status", "case", "digest"})
    EXPECT_TRUE(fields.contains(field)) << field;
  EXPECT_THAT(run({"schema", "trian"}).err, HasSubstr("did you mean 'train'"));
}

TEST_F(CommandsTest, DoctorNamesEnginesAndData) {
  const Finished doctor = run({"doctor", "--format", "jsonl"});
  EXPECT_LE(doctor.code, 1);
  EXPECT_THAT(doctor.out, HasSubstr("engine reference"));
  EXPECT_THAT(doctor.out, HasSubstr("data set fashion-mnist"));
  EXPECT_THAT(doctor.out, HasSubstr("ASSAY_HOME"));
}

TEST_F(CommandsTest, DataListsAndRefusesUnknownSets) {
  bool found = false;
  for (const Json& row : rows({"data", "list"})) found = found || row["name"] == "fashion-mnist";
  EXPECT_TRUE(found);
  EXPECT_EQ(run({"data", "prepare", "fashion-mnits"}).code, 2);
  EXPECT_THAT(run({"data", "prepair"}).err, HasSubstr("did you mean 'assay data prepare'"));
}

TEST_F(CommandsTest, ReportNeedsADatabase) {
  const Finished report = run({"report"});
  EXPECT_EQ(report.code, 2);
  EXPECT_THAT(report.err, StartsWith("error: "));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));
}

TEST_F(CommandsTest, WhatIsNoDatabaseIsNamed) {
  for (const auto& [file, words] : std::map<std::string, std::string>{
           {"/etc/passwd", "error: the file is not a database (/etc/passwd)\nhint: "},
           {"/tmp", "error: the database is a folder (/tmp)\n"},
           {"/dev/null", "(/dev/null)\n"},
           {"/none/a.db", "error: there is no database (/none/a.db)\n"}}) {
    const Finished report = run({"report", "--db", file});
    EXPECT_EQ(report.code, 2) << file;
    EXPECT_THAT(report.err, HasSubstr(words)) << file;
  }
}

TEST_F(CommandsTest, AFullDiskIsAnErrorAClosedPipeIsNot) {
  const Finished full = run_shell(folder_.path(), "\"$ASSAY\" list > /dev/full; exit $?");
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, HasSubstr("cannot write results"));
  const Finished closed =
      run_shell(folder_.path(), "\"$ASSAY\" help --markdown | true; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(closed.code, 0);
  EXPECT_THAT(closed.err, IsEmpty());
}

}  // namespace
}  // namespace assay::cli
