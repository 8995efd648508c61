// NVRTC, NVIDIA's compiler of CUDA C++, opened at run time: a node may have it or not, of any version. Its C
// interface is declared here, so that building needs nothing of it.
#pragma once

#include <cstddef>
#include <string>

namespace clique::daemon::compiler {

/// nvrtcResult. All others are failures, and have texts.
inline constexpr int kNvrtcSuccess = 0;
inline constexpr int kNvrtcOutOfMemory = 1;
inline constexpr int kNvrtcInvalidOption = 5;

struct NvrtcProgram;  ///< what an nvrtcProgram points to

// Every call that is used: its name without "nvrtc", its parameters.
#define CLIQUE_NVRTC_CALLS(X)                                                                             \
  X(Version, int*, int*)                                                                                  \
  X(GetNumSupportedArchs, int*)                                                                           \
  X(GetSupportedArchs, int*)                                                                              \
  X(CreateProgram, NvrtcProgram**, const char*, const char*, int, const char* const*, const char* const*) \
  X(DestroyProgram, NvrtcProgram**)                                                                       \
  X(CompileProgram, NvrtcProgram*, int, const char* const*)                                               \
  X(GetPTXSize, NvrtcProgram*, std::size_t*)                                                              \
  X(GetPTX, NvrtcProgram*, char*)                                                                         \
  X(GetProgramLogSize, NvrtcProgram*, std::size_t*)                                                       \
  X(GetProgramLog, NvrtcProgram*, char*)

/// NVRTC's entry points. The strings of GetErrorString are NVRTC's.
struct Nvrtc {
#define CLIQUE_NVRTC_MEMBER(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  CLIQUE_NVRTC_CALLS(CLIQUE_NVRTC_MEMBER)
#undef CLIQUE_NVRTC_MEMBER
  const char* (*GetErrorString)(int) = nullptr;

  int major = 0, minor = 0;
  std::string path;  ///< of its file, without links
  /// Tells this NVRTC from others: its version, and which file it is.
  std::string identity;
};

/// Opens NVRTC, once: what $CLIQUE_NVRTC says (a path, or empty for none), else libnvrtc.so.N, the latest
/// first, of $CUDA_HOME and $CUDA_PATH, where the loader finds it, and where packages put it. Any thread.
/// Throws std::runtime_error, with what is missing and what to do, where there is none; each time.
const Nvrtc& open_nvrtc();

/// Whether open_nvrtc() finds one.
bool has_nvrtc();

/// The folder of CUDA's headers (cuda_fp16.h) that fits the NVRTC best: the one beside it, else the
/// toolkit's. Empty where the node has none: then programs can include what NVRTC itself brings.
std::string find_cuda_headers(const Nvrtc& nvrtc);

}  // namespace clique::daemon::compiler
