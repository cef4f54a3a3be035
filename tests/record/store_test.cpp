// SPDX-License-Identifier: Apache-2.0
#include "record/store.h"

#include <cmath>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "record/row.h"
#include "record/sample_records.h"
#include "record/store_fixture.h"

namespace assay {
namespace {

using testing::HasSubstr;

using StoreTest = StoreFixture;

TEST_F(StoreTest, GivesBackEveryRecordAsItWas) {
  Store store = open();
  std::vector<Record> records = {sample_records::trained(), sample_records::inferred(),
                                 sample_records::crashed()};
  records[0].samples[0].values.push_back(std::nan("7"));
  records[0].add("loss", std::nan(""));
  records[0].add("bound", INFINITY);
  for (Record& record : records) {
    const auto id = store.append(record);
    ASSERT_TRUE(id.ok()) << id.error().text();
    record.id = *id;
  }
  const auto back = store.query({});
  ASSERT_TRUE(back.ok()) << back.error().text();
  ASSERT_EQ(back->size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    sample_records::expect_equal((*back)[i], records[i]);
    sample_records::expect_equal(*store.load(records[i].id), records[i]);
  }
}

TEST_F(StoreTest, IsThereAfterItWasClosed) {
  ASSERT_TRUE(open().append(sample_records::trained()).ok());
  ASSERT_TRUE(open().append(sample_records::inferred()).ok());
  const auto store = Store::open_read_only(path());
  ASSERT_TRUE(store.ok()) << store.error().text();
  EXPECT_EQ(store->query({})->size(), 2U);
}

TEST_F(StoreTest, AnswersQueries) {
  Store store = open();
  Record other = sample_records::trained();
  other.run_id = "run-2";
  other.measured_case = *Case::parse("v1:activity=infer model=resnet50");
  for (const Record& record : {sample_records::trained(), sample_records::inferred(), other}) {
    ASSERT_TRUE(store.append(record).ok());
  }
  const auto count = [&](const RecordQuery& query) { return store.query(query)->size(); };
  EXPECT_EQ(count({.run_id = "run-1"}), 2U);
  EXPECT_EQ(count({.activity = "infer"}), 2U);
  EXPECT_EQ(count({.workload = "image-classification"}), 2U);
  EXPECT_EQ(count({.model = "resnet50"}), 1U);
  EXPECT_EQ(count({.run_id = "run-1", .activity = "infer"}), 1U);
  EXPECT_EQ(count({.status = Status::kNoisy}), 2U);
  EXPECT_EQ(count({.case_text = other.measured_case.text()}), 1U);
  EXPECT_EQ(count({.run_id = "'; DROP TABLE records; --"}), 0U);
  EXPECT_EQ(**store.latest_run(), "run-2");
  const auto light = store.query({.run_id = "run-2", .with_samples = false});
  EXPECT_TRUE(light->front().samples.empty());
  EXPECT_FALSE(light->front().metrics.empty());
  EXPECT_EQ(store.load(99).error().code, ErrorCode::kNotFound);
}

TEST_F(StoreTest, KnowsRunsAndEnvironments) {
  Store store = open();
  EXPECT_EQ(*store.latest_run(), std::nullopt);
  ASSERT_TRUE(store.start_run({"b", "assay train", std::chrono::milliseconds(2)}).ok());
  ASSERT_TRUE(store.start_run({"a", "assay infer", std::chrono::milliseconds(1)}).ok());
  ASSERT_TRUE(store.start_run({"b", "again", std::chrono::milliseconds(3)}).ok());
  const auto runs = store.runs();
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].run_id, "a");
  EXPECT_EQ((*runs)[1].command, "assay train");
  const Json environment = {{"cpu_model", "Test CPU"}, {"cores", 2}};
  const std::string id = *store.put_environment(environment);
  EXPECT_EQ(*store.put_environment(environment), id);
  EXPECT_NE(*store.put_environment({{"cores", 4}}), id);
  EXPECT_EQ(*store.environment(id), environment);
  EXPECT_EQ(store.environment("none").error().code, ErrorCode::kNotFound);
}

TEST_F(StoreTest, FindsFinishedCasesToResume) {
  Store store = open();
  const Record crashed = sample_records::crashed();
  const Record done = sample_records::inferred();
  ASSERT_TRUE(store.append(crashed).ok());
  ASSERT_TRUE(store.append(done).ok());
  const auto found = [&](const Case& c, std::string_view digest,
                         const std::optional<std::string>& run = std::nullopt) {
    const auto result = store.find_finished(c, digest, run);
    EXPECT_TRUE(result.ok());
    return result.ok() && result->has_value();
  };
  EXPECT_TRUE(found(done.measured_case, done.digest));
  EXPECT_TRUE(found(done.measured_case, ""));
  EXPECT_TRUE(found(done.measured_case, done.digest, "run-1"));
  EXPECT_FALSE(found(done.measured_case, done.digest, "run-2"));
  EXPECT_FALSE(found(done.measured_case, "other"));
  EXPECT_FALSE(found(crashed.measured_case, crashed.digest)) << "a crash is tried again";
}

TEST_F(StoreTest, HasAViewOfEachCommandWithTheFieldsOfItsSchema) {
  Store store = open();
  Record record = sample_records::trained();
  record.id = *store.append(record);
  ASSERT_TRUE(store.append(sample_records::inferred()).ok());
  SQLite::Database database(path().string(), SQLite::OPEN_READONLY);
  for (const char* command : {"train", "infer", "sweep", "study"}) {
    const RowSchema& schema = *find_row_schema(command);
    SQLite::Statement rows(database, "SELECT * FROM \"" + std::string(command) + "\"");
    ASSERT_EQ(static_cast<size_t>(rows.getColumnCount()), schema.fields.size());
    for (int i = 0; i < rows.getColumnCount(); ++i) {
      EXPECT_EQ(rows.getColumnName(i), schema.fields[static_cast<size_t>(i)].name);
    }
  }
  SQLite::Statement rows(database, "SELECT * FROM train");
  ASSERT_TRUE(rows.executeStep());
  const Json row = row_of(record, *find_row_schema("train"));
  for (const Field& field : find_row_schema("train")->fields) {
    const SQLite::Column column = rows.getColumn(field.name.c_str());
    EXPECT_EQ(column.isNull(), row[field.name].is_null()) << field.name;
    if (row[field.name].is_number()) {
      EXPECT_EQ(column.getDouble(), row[field.name].get<double>()) << field.name;
    } else if (row[field.name].is_string()) {
      EXPECT_EQ(column.getString(), row[field.name].get<std::string>()) << field.name;
    }
  }
  EXPECT_FALSE(rows.executeStep());
}

TEST_F(StoreTest, RefusesADatabaseOfANewerSchema) {
  open();
  SQLite::Database(path().string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  for (const auto& result : {Store::open(path()), Store::open_read_only(path())}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(result.error().text(), HasSubstr("schema version 99, newer than"));
    EXPECT_THAT(result.error().hint, HasSubstr("use a newer assay"));
  }
}

TEST_F(StoreTest, AddsTheColumnsOfNewCaseKeysToAnOlderFile) {
  open();
  {
    SQLite::Database older(path().string(), SQLite::OPEN_READWRITE);
    for (const char* view : {"train", "infer", "sweep", "study"}) {
      older.exec("DROP VIEW \"" + std::string(view) + "\"");
    }
    older.exec("ALTER TABLE records DROP COLUMN level");
  }
  Store store = open();
  const Record record = sample_records::trained();
  ASSERT_TRUE(store.append(record).ok());
  SQLite::Database database(path().string(), SQLite::OPEN_READONLY);
  EXPECT_EQ(database.execAndGet("SELECT level FROM train").getInt(), 2);
}

TEST_F(StoreTest, RefusesAFileThatIsNoDatabase) {
  std::ofstream(path()) << std::string(8192, 'x');
  for (const auto& result : {Store::open(path()), Store::open_read_only(path())}) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(result.error().text(), HasSubstr("is not a database"));
    EXPECT_THAT(result.error().text(), HasSubstr(path().string()));
  }
}

TEST_F(StoreTest, RefusesTheDatabaseOfAnotherProgramAndLeavesItAlone) {
  {
    SQLite::Database other(path().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE bookmarks (url TEXT)");
  }
  const auto result = Store::open(path());
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().text(), HasSubstr("another program"));
  SQLite::Database other(path().string(), SQLite::OPEN_READONLY);
  EXPECT_EQ(other.execAndGet("SELECT count(*) FROM sqlite_master").getInt(), 1);
}

TEST_F(StoreTest, RefusesPathsThatCannotBeADatabase) {
  EXPECT_EQ(Store::open(folder()).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Store::open(folder() / "none" / "a.db").error().code, ErrorCode::kIo);
  EXPECT_EQ(Store::open("/proc/assay.db").error().code, ErrorCode::kIo);
  EXPECT_EQ(Store::open_read_only(folder() / "none.db").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Store::open_read_only(folder()).error().code, ErrorCode::kInvalid);
  std::ofstream(path()).flush();
  EXPECT_THAT(Store::open_read_only(path()).error().text(), HasSubstr("the database is empty"));
}

TEST_F(StoreTest, NamesDamageInsteadOfGuessing) {
  Store store = open();
  Record record = sample_records::trained();
  record.samples[0].values.assign(1000, 0.5);
  ASSERT_TRUE(store.append(record).ok());
  SQLite::Database database(path().string(), SQLite::OPEN_READWRITE);
  database.exec("UPDATE samples SET data = x'00112233'");
  EXPECT_EQ(store.query({}).error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(store.query({}).error().text(), HasSubstr("record 1"));
  EXPECT_TRUE(store.query({.with_samples = false}).ok());
  database.exec("UPDATE samples SET format = 9");
  EXPECT_THAT(store.query({}).error().text(), HasSubstr("unknown format"));
  database.exec("UPDATE records SET facts = '{'");
  EXPECT_EQ(store.query({.with_samples = false}).error().code, ErrorCode::kCorrupt);
  database.exec("UPDATE records SET facts = '[1]'");
  EXPECT_EQ(store.query({.with_samples = false}).error().code, ErrorCode::kCorrupt);
  database.exec("UPDATE records SET facts = '{}', status = 'fine'");
  EXPECT_EQ(store.query({.with_samples = false}).error().code, ErrorCode::kCorrupt);
}

TEST_F(StoreTest, NamesADamagedFile) {
  {
    Store store = open();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(store.append(sample_records::trained()).ok());
  }
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  const auto size = std::filesystem::file_size(path());
  for (uintmax_t at = 4096; at + 4096 <= size; at += 4096) {  // every page but the first
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(4096, '\xaa');
  }
  file.close();
  auto store = Store::open(path());
  const auto records = store.ok() ? store->query({}) : Result<std::vector<Record>>(store.error());
  ASSERT_FALSE(records.ok());
  EXPECT_EQ(records.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(records.error().text(), HasSubstr("damaged"));
}

}  // namespace
}  // namespace assay
