#include "daemon/compiler/nvrtc/compile.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>

#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/pinned_includes.hpp"
#include "daemon/compiler/contract/program_binary.hpp"
#include "daemon/compiler/nvrtc/library.hpp"
#include "daemon/compiler/nvrtc/options.hpp"
#include "daemon/compiler/nvrtc/ptx_kernels.hpp"
#include "protocol/sources/include_tree.hpp"

namespace clique::daemon::compiler {

namespace {

/// The name of the source in NVRTC's messages.
constexpr const char* kSourceName = "program.cu";
/// First major version of NVRTC that certainly knows --no-cache.
constexpr int kFirstWithCache = 13;

/// "90" for "sm_90" if this NVRTC knows it, otherwise the latest older architecture that it knows, whose code
/// runs on newer GPUs, too.
std::string architecture_for(const Nvrtc& nvrtc, const std::string& device) {
  const int wanted = std::stoi(device.substr(device.find('_') + 1));
  int count = 0;
  std::vector<int> known;
  if (nvrtc.GetNumSupportedArchs(&count) == kNvrtcSuccess) known.resize(static_cast<std::size_t>(count));
  if (known.empty() || nvrtc.GetSupportedArchs(known.data()) != kNvrtcSuccess)
    throw std::runtime_error(nvrtc.path + " does not list the architectures that it compiles for");
  std::erase_if(known, [wanted](int architecture) { return architecture > wanted; });
  if (known.empty())
    throw std::runtime_error("NVRTC " + std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor) +
                             " (" + nvrtc.path + ") no longer compiles for this GPU (" + device +
                             "): install an older NVRTC");
  return std::to_string(*std::max_element(known.begin(), known.end()));
}

/// Owns an nvrtcProgram.
class Program {
 public:
  /// @param headers what the source may include, by name
  Program(const Nvrtc& nvrtc, const std::string& source, const std::map<std::string, std::string>& headers)
      : nvrtc_(nvrtc) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, text] : headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    const int result = nvrtc.CreateProgram(&program_, source.c_str(), kSourceName,
                                           static_cast<int>(headers.size()), texts.data(), names.data());
    if (result != kNvrtcSuccess) throw std::runtime_error(error("nvrtcCreateProgram", result));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtc_.DestroyProgram(&program_); }

  /// @returns nvrtcResult
  int compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    words.reserve(options.size());
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtc_.CompileProgram(program_, static_cast<int>(words.size()), words.data());
  }
  std::string log() const { return text(nvrtc_.GetProgramLogSize, nvrtc_.GetProgramLog); }
  std::string ptx() const { return text(nvrtc_.GetPTXSize, nvrtc_.GetPTX); }
  std::string error(const std::string& call, int result) const {
    return call + " failed: " + nvrtc_.GetErrorString(result);
  }

 private:
  std::string text(int (*size_of)(NvrtcProgram*, std::size_t*), int (*get)(NvrtcProgram*, char*)) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != kNvrtcSuccess || size == 0) return {};
    std::string result(size, '\0');
    if (get(program_, result.data()) != kNvrtcSuccess) return {};
    // The size includes the terminating 0.
    result.pop_back();
    return result;
  }

  const Nvrtc& nvrtc_;
  NvrtcProgram* program_ = nullptr;
};

/// The source and what it includes, as NVRTC gets them. NVRTC opens files itself, but looks first at the
/// headers that it is given, by exactly the names in the source. So each include names such a header, or one
/// of CUDA's.
struct Texts {
  std::string source;
  std::map<std::string, std::string> headers;

  explicit Texts(const Request& request) {
    std::map<std::string, std::string_view> files;
    for (std::size_t i = 0; i < request.files.size(); ++i) files[request.file_paths.at(i)] = request.files[i];
    const auto open = [&files](const std::string& path) -> std::optional<std::string_view> {
      const auto found = files.find(path);
      if (found == files.end()) return std::nullopt;
      return found->second;
    };
    const auto name_of = [](const std::string& path) { return path; };
    for (const auto& text : protocol::include_tree({request.source, request.options, request.folder}, open)) {
      std::string pinned = pin_includes(text, name_of, UnknownIncludes::CompilersOwn);
      (text.path.empty() ? source : headers[text.path]) = std::move(pinned);
    }
  }
};

void build(const Request& request, const Nvrtc& nvrtc, const NvrtcOptions& options, Result& result) {
  ProgramBinary binary;
  const std::string architecture =
      options.architecture.empty() ? architecture_for(nvrtc, request.architecture) : options.architecture;
  binary.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  binary.architecture = "sm_" + architecture;
  binary.options = request.options;

  std::vector<std::string> words{"--gpu-architecture=compute_" + architecture, "--no-source-include"};
  // NVRTC's own cache is useless behind Clique's and would start the GPU's driver in this process.
  if (nvrtc.major >= kFirstWithCache) words.emplace_back("--no-cache");
  words.insert(words.end(), options.words.begin(), options.words.end());
  if (const std::string headers = find_cuda_headers(nvrtc); !headers.empty()) {
    // CUDA 13 has its C++ library in a folder of its own.
    for (const std::string& folder : {headers, headers + "/cccl"})
      words.push_back("--include-path=" + folder);
    // Replacing the toolkit changes these files, and thereby invalidates the cached result.
    result.files = {headers + "/cuda.h", headers + "/cuda_fp16.h"};
  }

  const Texts texts(request);
  Program program(nvrtc, texts.source, texts.headers);
  const int status = program.compile(words);
  result.log = without_no_file(program.log());
  if (!result.log.empty() && !result.log.ends_with('\n')) result.log += '\n';
  if (status == kNvrtcOutOfMemory) throw std::bad_alloc();
  if (status == kNvrtcInvalidOption)
    throw InvalidOptions(options_status(request.kind),
                         "error: NVRTC rejects an option of '" + request.options + "'\n");
  if (status != kNvrtcSuccess) throw std::runtime_error(program.error("nvrtcCompileProgram", status));
  if (options.warnings_are_errors && result.log.find(": warning") != std::string::npos)
    throw std::runtime_error("the warnings above are errors because of '-Werror'");
  const std::string ptx = program.ptx();
  binary.kernels = kernels_of_ptx(ptx);
  binary.code.assign(ptx.begin(), ptx.end());
  result.binary = serialize(binary);
}

}  // namespace

Result compile_cuda(const Request& request) {
  Result result;
  try {
    const NvrtcOptions options = nvrtc_options(request.kind, request.options);
    result.status = CL_COMPILER_NOT_AVAILABLE;
    const Nvrtc& nvrtc = open_nvrtc();
    result.status = failure_status(request.kind);
    build(request, nvrtc, options, result);
    result.status = CL_SUCCESS;
  } catch (const InvalidOptions& error) {
    result.status = error.status();
    result.log += error.what();
  } catch (const std::bad_alloc&) {
    result.status = CL_OUT_OF_HOST_MEMORY;
    result.log += "error: NVRTC ran out of memory\n";
  } catch (const std::exception& error) {
    result.log += std::string("error: ") + error.what() + "\n";
  }
  return result;
}

}  // namespace clique::daemon::compiler
