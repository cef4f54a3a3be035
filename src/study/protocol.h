// SPDX-License-Identifier: Apache-2.0
//
// What supervisor and worker say to each other: one JSON object a line, requests on the worker's
// stdin, replies on its stdout. Both sides are the same executable, so there is no version in it.
//
//   supervisor: {"request": "run", "case": "v1:...", ...}      one at a time
//               {"request": "cancel"}                          ends the running case
//   worker:     {"reply": "digest", "digest": "..."}           before anything is measured
//               {"reply": "progress", "text": "...", ...}      any number
//               {"reply": "record", "record": {...}}           the answer to "run"
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/error.h"
#include "measure/stopping.h"
#include "record/case.h"
#include "record/record.h"

namespace assay {

// How far a case has come. Whatever is not known is left out.
struct Progress {
  std::string text;                // "epoch 2.5, top1 0.913"
  std::optional<double> fraction;  // done, 0 to 1
  std::optional<double> rate;      // items a second
  std::string item;                // "image"
};

struct RunRequest {
  Case requested;
  StoppingOptions stopping;
  std::string checkpoint_folder;  // where training leaves its weights and inference finds them
  std::string checkpoint;         // weights for inference, when the user names them
  std::string mllog;              // where to write the MLPerf training log; empty: nowhere
  std::string organisation;       // who runs it, for that log
};
struct CancelRequest {};
using Request = std::variant<RunRequest, CancelRequest>;

struct DigestReply {
  std::string digest;
};
struct RecordReply {
  Record record;
};
// The case was cancelled before there was anything to record.
struct CancelledReply {};
using Reply = std::variant<DigestReply, Progress, RecordReply, CancelledReply>;

std::string to_line(const Request& request);
std::string to_line(const Reply& reply);
Result<Request> parse_request(const std::string& line);
Result<Reply> parse_reply(const std::string& line);

}  // namespace assay
