// Programs through a real clique-compiler, as a worker does it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/compiler/compiler_process.hpp"
#include "daemon/compiler/program_binary.hpp"

namespace clique::daemon::compiler {

/// One process serves all tests; nothing is cached.
CompilerProcess& shared_compiler();

Request build_request(std::string source, std::string options = "");

/// The result of building; the status is whatever it is.
Result build(const std::string& source, const std::string& options = "");

/// The binary of a program that has to build.
ProgramBinary built(const std::string& source, const std::string& options = "",
                    const std::string& architecture = "sm_90");

std::string ptx_of(const ProgramBinary& binary);

const Kernel& kernel_named(const ProgramBinary& binary, const std::string& name);

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

}  // namespace clique::daemon::compiler
