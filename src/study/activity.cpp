// SPDX-License-Identifier: Apache-2.0
#include "study/activity.h"

namespace assay {

Result<Record> run_activity(const ActivityContext& context) {
  const std::string& activity = context.request.requested.get("activity");
  if (activity == "train") return train_activity(context);
  if (activity == "infer") return infer_activity(context);
  if (activity == "profile") return profile_activity(context);
  return Error{ErrorCode::kInvalid,
               "no activity '" + activity + "', there are: train, infer, profile", "case"};
}

}  // namespace assay
