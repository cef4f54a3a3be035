// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/text.h"
#include "train/safetensors.h"

namespace assay {
namespace {

constexpr const char* kFormatKey = "assay_checkpoint";
constexpr const char* kFormat = "1";

Error not_ours(const std::string& what, const std::filesystem::path& file) {
  return Error{ErrorCode::kInvalid, "not a checkpoint of this program: " + what, file.string()};
}

Result<Checkpoint> from_file(SafetensorsFile content, const std::filesystem::path& file) {
  auto& metadata = content.metadata;
  const auto format = metadata.find(kFormatKey);
  if (format == metadata.end()) return not_ours("it says no format version", file);
  if (format->second != kFormat) {
    return not_ours("its format version is " + format->second + ", ours is " + kFormat, file);
  }
  Checkpoint checkpoint;
  const std::pair<const char*, std::string*> texts[] = {
      {"workload", &checkpoint.workload},         {"variant", &checkpoint.variant},
      {"precision", &checkpoint.precision},       {"digest", &checkpoint.digest},
      {"code_version", &checkpoint.code_version},
  };
  for (const auto& [key, field] : texts) {
    if (!metadata.contains(key)) return not_ours(std::string("it lacks ") + key, file);
    *field = metadata[key];
  }
  const Result<uint64_t> seed = parse_uint(metadata["seed"]);
  const Result<int64_t> step = parse_int(metadata["step"]);
  if (!seed.ok() || !step.ok() || *step < 0) return not_ours("bad seed or step", file);
  checkpoint.seed = *seed;
  checkpoint.step = *step;
  if (const auto quality = metadata.find("quality"); quality != metadata.end()) {
    const Result<double> value = parse_double(quality->second);
    if (!value.ok()) return not_ours("bad quality", file);
    checkpoint.quality = *value;
  }
  checkpoint.tensors = std::move(content.tensors);
  return checkpoint;
}

}  // namespace

std::filesystem::path checkpoint_path(const std::filesystem::path& folder,
                                      const std::string& workload, const std::string& variant,
                                      const std::string& precision, uint64_t seed) {
  return folder / (workload + "-" + variant + "-" + precision + "-seed" + std::to_string(seed) +
                   ".safetensors");
}

Result<void> write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint) {
  SafetensorsFile content;
  content.metadata = {{kFormatKey, kFormat},
                      {"workload", checkpoint.workload},
                      {"variant", checkpoint.variant},
                      {"precision", checkpoint.precision},
                      {"seed", std::to_string(checkpoint.seed)},
                      {"digest", checkpoint.digest},
                      {"step", std::to_string(checkpoint.step)},
                      {"code_version", checkpoint.code_version}};
  if (checkpoint.quality) content.metadata["quality"] = shortest(*checkpoint.quality);
  content.tensors = checkpoint.tensors;
  ASSAY_ASSIGN(const std::string bytes, safetensors_bytes(content));
  std::error_code failure;
  std::filesystem::create_directories(file.parent_path(), failure);
  if (failure) {
    return Error{ErrorCode::kIo, "cannot make the folder of checkpoints: " + failure.message(),
                 file.parent_path().string()};
  }
  return write_file(file, bytes);
}

Result<Checkpoint> read_checkpoint(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Error{ErrorCode::kNotFound, "no checkpoint", file.string(),
                 "train the workload first: `assay train WORKLOAD`"};
  }
  ASSAY_ASSIGN(const MappedFile mapped, MappedFile::open(file));
  const auto bytes = mapped.bytes();
  ASSAY_ASSIGN(SafetensorsFile content,
               parse_safetensors({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                 file.string()));
  return from_file(std::move(content), file);
}

Result<void> check_digest(const Checkpoint& checkpoint, const std::string& digest,
                          const std::filesystem::path& file) {
  if (checkpoint.digest == digest) return {};
  return Error{ErrorCode::kInvalid,
               "the checkpoint belongs to another network, recipe or data set: its digest is " +
                   checkpoint.digest + ", wanted " + digest,
               file.string(), "train again with the same options"};
}

}  // namespace assay
