// SPDX-License-Identifier: Apache-2.0
#include "study/protocol.h"

#include "base/json.h"

namespace assay {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

template <class T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}

template <class T>
std::optional<T> take(const Json& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return json.at(name).get<T>();
}

Json to_json(const StoppingOptions& stopping) {
  return {{"min_time_s", stopping.min_time_s},
          {"max_time_s", stopping.max_time_s},
          {"max_noise", stopping.max_noise},
          {"min_samples", stopping.min_samples},
          {"max_samples", stopping.max_samples}};
}

StoppingOptions stopping_from(const Json& json) {
  return {.min_time_s = json.at("min_time_s").get<double>(),
          .max_time_s = json.at("max_time_s").get<double>(),
          .max_noise = json.at("max_noise").get<double>(),
          .min_samples = json.at("min_samples").get<int64_t>(),
          .max_samples = json.at("max_samples").get<int64_t>()};
}

Result<Request> request_from(const Json& json) {
  const std::string kind = json.at("request").get<std::string>();
  if (kind == "cancel") return Request{CancelRequest{}};
  if (kind != "run") return Error{ErrorCode::kInvalid, "unknown request '" + kind + "'"};
  ASSAY_ASSIGN(Case requested, Case::parse(json.at("case").get<std::string>()));
  return Request{RunRequest{.requested = std::move(requested),
                            .stopping = stopping_from(json.at("stopping")),
                            .checkpoint_folder = json.at("checkpoint_folder").get<std::string>(),
                            .checkpoint = json.at("checkpoint").get<std::string>(),
                            .mllog = json.at("mllog").get<std::string>(),
                            .organisation = json.at("organisation").get<std::string>()}};
}

Result<Reply> reply_from(const Json& json) {
  const std::string kind = json.at("reply").get<std::string>();
  if (kind == "digest") return Reply{DigestReply{json.at("digest").get<std::string>()}};
  if (kind == "cancelled") return Reply{CancelledReply{}};
  if (kind == "progress")
    return Reply{Progress{.text = json.at("text").get<std::string>(),
                          .fraction = take<double>(json, "fraction"),
                          .rate = take<double>(json, "rate"),
                          .item = take<std::string>(json, "item").value_or("")}};
  if (kind != "record") return Error{ErrorCode::kInvalid, "unknown reply '" + kind + "'"};
  ASSAY_ASSIGN(Record record, record_from_json(json.at("record")));
  Result<Reply> reply = Reply{CancelledReply{}};
  reply->emplace<RecordReply>().record = std::move(record);
  return reply;
}

// Members that are absent or of another type are reported by the JSON library as exceptions.
template <class T>
Result<T> parse_line(const std::string& line, Result<T> (*from)(const Json&)) {
  ASSAY_ASSIGN(const Json json, parse_json(line, "worker protocol"));
  try {
    return from(json);
  } catch (const nlohmann::json::exception& error) {
    return Error{ErrorCode::kInvalid, error.what(), "worker protocol"};
  }
}

}  // namespace

std::string to_line(const Request& request) {
  const auto json =
      std::visit(Overloaded{[](const CancelRequest&) {
                              return Json{{"request", "cancel"}};
                            },
                            [](const RunRequest& run) {
                              return Json{{"request", "run"},
                                          {"case", run.requested.text()},
                                          {"stopping", to_json(run.stopping)},
                                          {"checkpoint_folder", run.checkpoint_folder},
                                          {"checkpoint", run.checkpoint},
                                          {"mllog", run.mllog},
                                          {"organisation", run.organisation}};
                            }},
                 request);
  return json.dump();
}

std::string to_line(const Reply& reply) {
  const auto json = std::visit(
      Overloaded{[](const DigestReply& digest) {
                   return Json{{"reply", "digest"}, {"digest", digest.digest}};
                 },
                 [](const CancelledReply&) {
                   return Json{{"reply", "cancelled"}};
                 },
                 [](const Progress& progress) {
                   Json out{{"reply", "progress"}, {"text", progress.text}};
                   put(out, "fraction", progress.fraction);
                   put(out, "rate", progress.rate);
                   if (!progress.item.empty()) out["item"] = progress.item;
                   return out;
                 },
                 [](const RecordReply& record) {
                   return Json{{"reply", "record"}, {"record", assay::to_json(record.record)}};
                 }},
      reply);
  // Text of outside libraries may be no UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Request> parse_request(const std::string& line) { return parse_line(line, request_from); }
Result<Reply> parse_reply(const std::string& line) { return parse_line(line, reply_from); }

}  // namespace assay
