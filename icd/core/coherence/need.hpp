#pragma once

#include <CL/cl.h>

#include <cstdint>

#include "icd/core/commands/submission.hpp"

namespace clique::icd {

class Memory;
class Worker;
struct KernelFunction;

/// For what content has to come to a worker, for messages to people and traces.
struct Need {
  cl_command_type command;                    ///< that uses the content
  const KernelFunction* kernel = nullptr;     ///< that it launches; null: it launches none
  cl_uint argument = KernelUse::kNoArgument;  ///< of the kernel
};

/// A transfer that coherence makes.
struct Migration {
  const Memory& object;  ///< that keeps the content
  std::uint64_t begin;
  std::uint64_t end;
  const Worker* from;  ///< null: the host
  const Worker& to;

  std::uint64_t bytes() const { return end - begin; }
};

}  // namespace clique::icd
