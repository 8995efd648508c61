// NVRTC, NVIDIA's library that compiles CUDA C++. It is opened at run time, because a node may have any
// version of it or none. Its C interface is declared here, so that building Clique does not need NVRTC.
#pragma once

#include <cstddef>
#include <string>

namespace clique::daemon::compiler {

/// Values of nvrtcResult. All others are failures, which GetErrorString describes.
inline constexpr int kNvrtcSuccess = 0;
inline constexpr int kNvrtcOutOfMemory = 1;
inline constexpr int kNvrtcInvalidOption = 5;

struct NvrtcProgram;  ///< an nvrtcProgram is a pointer to this

// Every function that is used: its name without "nvrtc", and its parameters.
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

/// NVRTC's functions. NVRTC owns the strings that GetErrorString returns.
struct Nvrtc {
#define CLIQUE_NVRTC_MEMBER(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  CLIQUE_NVRTC_CALLS(CLIQUE_NVRTC_MEMBER)
#undef CLIQUE_NVRTC_MEMBER
  const char* (*GetErrorString)(int) = nullptr;

  int major = 0, minor = 0;
  std::string path;  ///< of the library's file, with symbolic links resolved
  /// Distinguishes this NVRTC from others: version, and path, size and modification time of its file.
  std::string identity;
};

/// The node's NVRTC, opened by the first call: $CLIQUE_NVRTC if that is set (a path, or empty for none);
/// otherwise the latest libnvrtc.so.N in $CUDA_HOME or $CUDA_PATH, in the loader's folders, or in the folders
/// that packages use. Any thread. If there is none, every call throws std::runtime_error, which says what is
/// missing and what to do.
const Nvrtc& open_nvrtc();

/// Whether open_nvrtc() succeeds.
bool has_nvrtc();

/// The folder with CUDA's headers (cuda_fp16.h) that fits this NVRTC best: the one of the same installation,
/// otherwise that of a toolkit. Empty if the node has none; programs can then include only the headers that
/// are built into NVRTC.
std::string find_cuda_headers(const Nvrtc& nvrtc);

}  // namespace clique::daemon::compiler
