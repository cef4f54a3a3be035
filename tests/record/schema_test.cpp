// SPDX-License-Identifier: Apache-2.0
#include "record/schema.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "record/row.h"

namespace assay {
namespace {

TEST(Schema, HasEveryFieldOfTheContract) {
  const std::map<std::pair<std::string, std::string>, std::vector<std::string>> contract = {
      {{"list", "workloads"},
       {"name", "domain", "suite", "model", "dataset", "metric", "target", "variants", "status"}},
      {{"env", ""},
       {"cpu_model", "cores", "isa", "memory_bytes", "caches", "gpus", "engines", "governor",
        "virtualised"}},
      {{"profile", ""},
       {"parameters", "macs", "flops", "read_bytes", "write_bytes", "intensity_flop_per_byte",
        "activation_bytes", "peak_bytes", "nodes", "backward_flops", "optimizer_bytes",
        "saved_bytes", "low_precision_flops_share"}},
      {{"profile", "nodes"}, {"name", "op_type", "output_shape"}},
      {{"infer", ""},
       {"item", "throughput_per_s", "latency_mean_ns", "latency_p50_ns", "latency_p90_ns",
        "latency_p99_ns", "latency_p99_9_ns", "quality", "samples", "status"}},
      {{"train", ""},
       {"workload", "seed", "reached", "final_loss", "time_to_target_s", "epochs", "quality",
        "target", "throughput_per_s", "step_mean_ns", "energy_joules", "cost_usd", "status",
        "item"}}};
  for (const auto& [key, fields] : contract) {
    const RowSchema* schema = find_row_schema(key.first, key.second);
    ASSERT_NE(schema, nullptr) << key.first << " " << key.second;
    for (const std::string& field : fields) {
      EXPECT_NE(schema->field(field), nullptr) << key.first << ": " << field;
    }
  }
  for (const char* command : {"doctor", "data", "schema", "sweep", "study", "report"}) {
    EXPECT_NE(find_row_schema(command), nullptr) << command;
  }
  EXPECT_EQ(find_row_schema("nothing"), nullptr);
}

TEST(Schema, StartsEveryRowWithCaseDigestStatusReason) {
  for (const RowSchema& schema : row_schemas()) {
    ASSERT_GE(schema.fields.size(), 5U) << schema.command;
    EXPECT_EQ(schema.fields[0].name, "case");
    EXPECT_EQ(schema.fields[1].name, "digest");
    EXPECT_EQ(schema.fields[2].name, "status");
    EXPECT_EQ(schema.fields[3].name, "reason");
  }
}

TEST(Schema, NamesEachFieldOnceAndSaysWhatItMeans) {
  for (const RowSchema& schema : row_schemas()) {
    std::set<std::string> names;
    for (const Field& field : schema.fields) {
      EXPECT_TRUE(names.insert(field.name).second) << schema.command << ": " << field.name;
      EXPECT_FALSE(field.doc.empty()) << schema.command << ": " << field.name;
    }
    EXPECT_FALSE(names.contains("missing")) << "reserved for the reasons of nulls";
  }
}

// The unit in the table and the unit in the name are the same, both ways.
TEST(Schema, EndsNamesWithTheirUnits) {
  for (const RowSchema& schema : row_schemas()) {
    for (const Field& field : schema.fields) {
      const std::string where = schema.command + ": " + field.name;
      for (const char* unit : {"s", "ns", "bytes", "flops", "watts", "joules", "usd", "per_s"}) {
        // "flops" alone is a count of operations whose whole name is its unit.
        const bool ends = field.name.ends_with("_" + std::string(unit)) || field.name == unit;
        const bool rate = field.name.ends_with("_per_s");
        const bool expected = ends && !(rate && std::string_view(unit) == "s");
        EXPECT_EQ(field.unit == unit, expected) << where << " and unit " << unit;
      }
      if (field.unit == "share") {
        EXPECT_TRUE(field.name.ends_with("_share")) << where;
      }
    }
  }
}

TEST(Schema, GivesAnItemToEveryThroughput) {
  for (const RowSchema& schema : row_schemas()) {
    if (schema.field("throughput_per_s") != nullptr) {
      EXPECT_NE(schema.field("item"), nullptr) << schema.command;
    }
  }
}

TEST(Schema, KeepsSeedsAsText) {
  EXPECT_EQ(find_row_schema("train")->field("seed")->type, FieldType::kText);
}

TEST(Schema, DescribesItselfAsRows) {
  const Json rows = schema_rows("train");
  size_t fields = 0;  // of every kind of row that the command prints
  for (const RowSchema& schema : row_schemas())
    if (schema.command == "train") fields += schema.fields.size();
  EXPECT_EQ(rows.size(), fields);
  const Json all = schema_rows("");
  EXPECT_GT(all.size(), 4 * rows.size());
  bool found = false;
  for (const Json& row : rows) {
    if (row["field"] != "time_to_target_s") continue;
    found = true;
    EXPECT_EQ(row["unit"], "s");
    EXPECT_EQ(row["type"], "number");
    EXPECT_EQ(row["nullable"], true);
    EXPECT_TRUE(row["kind"].is_null());
    EXPECT_TRUE(row["missing"].contains("kind"));
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(schema_rows("nothing").empty());
}

}  // namespace
}  // namespace assay
