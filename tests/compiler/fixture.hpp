// Compiling programs with a real clique-compiler, as a worker does.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/client/compiler_process.hpp"
#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// How long the compiler may take for a request.
inline constexpr std::chrono::seconds kLimit{60};

/// One compiler process for all tests, without a cache.
CompilerProcess& shared_compiler();

/// A request to build `source` for sm_90.
Request build_request(std::string source, std::string options = "");

/// The result of building, whether it succeeds or fails.
Result build(const std::string& source, const std::string& options = "");

/// The binary of a program. Throws if it does not build.
ProgramBinary built(const std::string& source, const std::string& options = "",
                    const std::string& architecture = "sm_90");

/// The PTX of an executable.
std::string ptx_of(const ProgramBinary& binary);

/// The kernel of this name. Throws if there is none.
const Kernel& kernel_named(const ProgramBinary& binary, std::string_view name);

/// Sets an environment variable for as long as the object lives, also for compilers that start meanwhile.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Setting() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// A shell script that takes the place of clique-compiler, or of a program that clique-compiler runs.
class Script {
 public:
  explicit Script(const std::string& text)
      : path_(testing::TempDir() + "clique-script-" + std::to_string(::getpid())) {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~Script() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

}  // namespace clique::daemon::compiler
