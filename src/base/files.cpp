// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/descriptor.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

Error system_error(int number, std::string_view what, const fs::path& path) {
  const ErrorCode code = number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return {code, fmt::format("{}: {}", what, std::generic_category().message(number)),
          path.string()};
}

int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// Devices and pipes cannot be replaced by rename: write into them.
Result<void> write_directly(const fs::path& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error(errno, "cannot write", path);
  if (const int error = write_all(file.get(), content)) {
    return system_error(error, "cannot write", path);
  }
  if (file.close() != 0) return system_error(errno, "cannot write", path);
  return {};
}

int write_temporary(const fs::path& path, std::string_view content, mode_t mode, bool keep_mode) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (file.get() < 0) return errno;
  if (keep_mode && ::fchmod(file.get(), mode) != 0) return errno;
  if (const int error = write_all(file.get(), content)) return error;
  if (::fsync(file.get()) != 0) return errno;
  return file.close() == 0 ? 0 : errno;
}

// Makes the rename itself durable; a file system that cannot sync folders is left alone.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) ::fsync(descriptor.get());
}

}  // namespace

Result<std::string> read_file(const fs::path& path, Bytes limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error(errno, "cannot read", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error(errno, "cannot read", path);
  const Error too_large{ErrorCode::kInvalid, "larger than " + human_bytes(limit), path.string()};
  if (info.st_size > limit.count) return too_large;
  std::string content;
  // One byte more than the size shows the end without a second buffer; files of /proc say size 0.
  size_t room = std::max<size_t>(static_cast<size_t>(info.st_size) + 1, 4096);
  size_t used = 0;
  while (true) {
    content.resize(room);
    const ssize_t got = ::read(file.get(), content.data() + used, room - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(errno, "cannot read", path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > static_cast<size_t>(limit.count)) return too_large;
    if (used == room) room *= 2;
  }
  content.resize(used);
  return content;
}

Result<void> write_file(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  // A symbolic link stays a link: its target is replaced.
  fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  if (target.empty()) target = path;
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return system_error(EISDIR, "cannot write", path);
  if (exists && !S_ISREG(info.st_mode)) return write_directly(target, content);

  static std::atomic<uint64_t> counter{0};
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const fs::path temporary =
      folder / fmt::format(".{}.{}-{}.tmp", target.filename().string(), ::getpid(), counter++);
  const mode_t mode = exists ? info.st_mode & 07777 : 0666;
  int error = write_temporary(temporary, content, mode, exists);
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    if (error != EEXIST) ::unlink(temporary.c_str());
    return system_error(error, "cannot write", path);
  }
  sync_folder(folder);
  return {};
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error(errno, "cannot read", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error(errno, "cannot read", path);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kIo, "cannot map: not a regular file", path.string()};
  }
  MappedFile mapped;
  if (info.st_size == 0) return mapped;
  const auto size = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return system_error(errno, "cannot map", path);
  mapped.data_ = static_cast<const std::byte*>(data);
  mapped.size_ = size;
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

fs::path assay_home() {
  if (const char* home = std::getenv("ASSAY_HOME"); home != nullptr && *home != '\0') return home;
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return fs::path(home) / ".cache" / "assay";
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): only without HOME, as in a bare service
  if (const passwd* user = ::getpwuid(::getuid()); user != nullptr) {
    return fs::path(user->pw_dir) / ".cache" / "assay";
  }
  return fs::path("/var/tmp") / fmt::format("assay-{}", ::getuid());
}

fs::path executable_folder() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : executable.parent_path();
}

fs::path share_folder() {
  if (const char* share = std::getenv("ASSAY_SHARE"); share != nullptr && *share != '\0') {
    return share;
  }
  std::error_code ignored;
  const fs::path folder = executable_folder();
  for (fs::path up = folder; up != up.root_path(); up = up.parent_path()) {
    if (fs::is_directory(up / "workloads", ignored) && fs::exists(up / "CMakeLists.txt", ignored)) {
      return up;
    }
  }
  return (folder / ".." / "share" / "assay").lexically_normal();
}

}  // namespace assay
