// SPDX-License-Identifier: Apache-2.0
#include "base/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

extern char** environ;

namespace assay {
namespace {

std::string describe(int number) { return std::generic_category().message(number); }

Error no_descriptors() {
  return {ErrorCode::kIo, fmt::format("cannot make a pipe: {}", describe(errno)), ""};
}

// Our environment with the additions, as execve wants it.
std::vector<std::string> merged_environment(std::map<std::string, std::string> added) {
  added[kParentVariable] = std::to_string(::getpid());
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) entries.emplace_back(text);
  }
  for (const auto& [name, value] : added) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// The attributes and file actions of one posix_spawn.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  int spawn(pid_t* pid, const ProcessOptions& options, const ChildStreams& streams) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!options.working_directory.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, options.working_directory.c_str());
    }
    posix_spawn_file_actions_adddup2(&actions_, streams.in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, streams.out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, streams.err, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    std::vector<std::string> arguments = options.arguments;
    std::vector<std::string> environment = merged_environment(options.environment);
    return posix_spawnp(pid, arguments[0].c_str(), &actions_, &attributes_,
                        pointers(arguments).data(), pointers(environment).data());
  }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_descriptors();
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  for (Descriptor* end : {&pipe.read, &pipe.write}) {
    if (end->get() > STDERR_FILENO) continue;
    const int moved = ::fcntl(end->get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) return no_descriptors();
    *end = Descriptor(moved);
  }
  return pipe;
}

void make_nonblocking(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  ::fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK);
}

Result<pid_t> spawn(const ProcessOptions& options, const ChildStreams& streams) {
  pid_t pid = -1;
  const int error = SpawnPlan().spawn(&pid, options, streams);
  if (error == 0) return pid;
  const bool missing = error == ENOENT || error == ENOTDIR;
  return Error{missing ? ErrorCode::kNotFound : ErrorCode::kIo,
               "cannot start '" + options.arguments[0] + "': " + describe(error),
               options.working_directory};
}

}  // namespace assay
