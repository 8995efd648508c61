#include "daemon/compiler/tool/frontend/frontend.hpp"

#include <clang/Basic/AddressSpaces.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/OpenCLOptions.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <string_view>

#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/tool/frontend/headers.hpp"
#include "daemon/compiler/tool/frontend/kernel_attributes.hpp"
#include "daemon/compiler/tool/frontend/macro_checks.hpp"

namespace clique::daemon::compiler {

namespace {

/// The folder in which the compiler's own headers appear, in memory.
constexpr const char* kHeaderFolder = "/clique-compiler/include";
constexpr const char* kBaseHeader = "/clique-compiler/include/opencl-c-base.h";

constexpr const char* kMatrixHeader = "cl_clique_cooperative_matrix.h";

/// Clang's map for NVPTX, except that __constant is global memory: a __constant argument is a buffer like any
/// other, whereas `ld.const` reads only what is known when the program is linked. Tables in programs move to
/// `.const` later, when all of their uses are known (passes/constants.hpp).
const clang::LangASMap kAddressSpaces = {
    0,        // Default
    1,        // opencl_global
    3,        // opencl_local
    1,        // opencl_constant
    0,        // opencl_private
    0,        // opencl_generic
    1,        // opencl_global_device
    1,        // opencl_global_host
    1, 4, 3,  // cuda_device, cuda_constant, cuda_shared
    1, 1, 1,  // sycl_global, sycl_global_device, sycl_global_host
    3, 0,     // sycl_local, sycl_private
    0, 0, 0,  // ptr32_sptr, ptr32_uptr, ptr64
    0, 0,     // hlsl_groupshared, wasm_funcref
};

/// Sets the map, a protected member that only derived classes may name.
struct AddressSpaces : clang::TargetInfo {
  static void set(clang::TargetInfo& target) { target.*(&AddressSpaces::AddrSpaceMap) = &kAddressSpaces; }
};

class Action : public clang::EmitLLVMOnlyAction {
 public:
  /// Notes the use of macros that are not defined by `own`, options of the program, if `macros` is not null.
  Action(llvm::LLVMContext* context, KernelAttributes& attributes, const std::vector<std::string>& own,
         MacroChecks* macros)
      : EmitLLVMOnlyAction(context), attributes_(attributes), own_(own), macros_(macros) {}

 protected:
  bool BeginSourceFileAction(clang::CompilerInstance& instance) override {
    AddressSpaces::set(instance.getTarget());
    if (macros_ != nullptr) note_macros(instance.getPreprocessor(), own_, *macros_);
    return EmitLLVMOnlyAction::BeginSourceFileAction(instance);
  }

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(make_attribute_collector(attributes_));
    consumers.push_back(EmitLLVMOnlyAction::CreateASTConsumer(instance, file));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

 private:
  KernelAttributes& attributes_;
  const std::vector<std::string>& own_;
  MacroChecks* macros_;
};

std::string language_option(unsigned language) {
  std::string option = "-cl-std=CL";
  option += static_cast<char>('0' + language / 100);
  option += '.';
  option += static_cast<char>('0' + language / 10 % 10);
  return option;
}

/// Enables the device's extensions and features: in Clang if it knows them, otherwise by defining a macro.
void add_extensions(const Source& source, const Options& options, std::vector<std::string>& arguments) {
  const clang::OpenCLOptions known;
  std::string switched = "-cl-ext=-all,+cl_clang_storage_class_specifiers";
  const auto add = [&](const std::string& name) {
    if (known.isKnown(name)) {
      switched += ",+" + name;
    } else {
      arguments.emplace_back("-D").append(name).append("=1");
    }
  };
  for (const std::string& extension : source.extensions) add(extension);
  const auto features = language_features(source.extensions);
  if (options.language >= 300)
    for (const std::string& feature : features) add(feature);
  arguments.push_back(switched);
}

void add_mathematics(const Options& options, std::vector<std::string>& arguments) {
  const bool contract = options.mad_enable || options.unsafe_math || options.fast_relaxed_math;
  arguments.emplace_back(contract ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=on");
  if (options.single_precision_constant) arguments.emplace_back("-cl-single-precision-constant");
  if (options.correctly_rounded_divide_sqrt) arguments.emplace_back("-cl-fp32-correctly-rounded-divide-sqrt");
  if (options.mad_enable) arguments.emplace_back("-cl-mad-enable");
  if (options.no_signed_zeros) arguments.emplace_back("-cl-no-signed-zeros");
  if (options.unsafe_math) arguments.emplace_back("-cl-unsafe-math-optimizations");
  if (options.finite_math_only) arguments.emplace_back("-cl-finite-math-only");
  if (options.fast_relaxed_math) arguments.emplace_back("-cl-fast-relaxed-math");
  if (options.flush_denorms()) arguments.emplace_back("-fdenormal-fp-math-f32=preserve-sign,preserve-sign");
}

std::vector<std::string> arguments_for(const Source& source, const Options& options, const Target& target) {
  std::vector<std::string> arguments{
      "-triple", kTriple, "-target-cpu", target.processor, "-target-feature", target.features(),
      // OpenCL C, with metadata for clGetKernelArgInfo. The passes run later.
      "-x", "cl", "-cl-kernel-arg-info", "-O2", "-disable-llvm-passes", "-emit-llvm-only", "-main-file-name",
      source.name, "-internal-isystem", kHeaderFolder,
      // Programs written for other drivers use `asm` and `typeof`. #include looks in the working directory.
      "-fgnu-keywords", "-I.", "-Wno-unused-value"};
  if (source.library) {
    arguments.insert(arguments.end(), {"-include", "opencl-c-base.h"});
  } else {
    arguments.insert(arguments.end(), {"-finclude-default-header", "-fdeclare-opencl-builtins"});
    if (std::find(source.extensions.begin(), source.extensions.end(), kCooperativeMatrix) !=
        source.extensions.end())
      arguments.insert(arguments.end(), {"-include", kMatrixHeader});
  }
  arguments.push_back(language_option(options.language));
  add_mathematics(options, arguments);
  if (options.strict_aliasing) arguments.emplace_back("-cl-strict-aliasing");
  if (options.uniform_work_group_size) arguments.emplace_back("-cl-uniform-work-group-size");
  if (options.debug) arguments.emplace_back("-debug-info-kind=line-tables-only");
  add_extensions(source, options, arguments);
  arguments.insert(arguments.end(),
                   {"-D__OPENCL_VERSION__=300", "-D__ENDIAN_LITTLE__=1", "-D__IMAGE_SUPPORT__=1"});
  arguments.insert(arguments.end(), options.preprocessor.begin(), options.preprocessor.end());
  arguments.insert(arguments.end(), options.warnings.begin(), options.warnings.end());
  arguments.push_back(source.name);
  return arguments;
}

/// What the compiler can read: the program and what it may include, in memory, and the disk only if
/// `reads_disk`.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system(const Source& source) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(new llvm::vfs::InMemoryFileSystem);
  const auto disk = llvm::vfs::getRealFileSystem();
  const auto folder = disk->getCurrentWorkingDirectory();
  memory->setCurrentWorkingDirectory(source.reads_disk && folder ? *folder : source.folder);
  // Of several files with one name the first one counts.
  const auto add = [&](const std::string& name, llvm::StringRef text) {
    memory->addFile(name, 0, llvm::MemoryBuffer::getMemBuffer(text, name));
  };
  add(kBaseHeader, opencl_c_base_header());
  add(std::string(kHeaderFolder) + "/" + kMatrixHeader, cooperative_matrix_header());
  add(source.name, source.text);
  for (const auto& [name, text] : source.headers) add(name, text);
  for (const auto& [path, text] : source.files) add(path, text);
  if (!source.reads_disk) return memory;
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> both(new llvm::vfs::OverlayFileSystem(disk));
  both->pushOverlay(memory);
  return both;
}

}  // namespace

std::unique_ptr<llvm::Module> compile_source(llvm::LLVMContext& context, const Source& source,
                                             const Options& options, const Target& target, std::string& log) {
  const std::vector<std::string> arguments = arguments_for(source, options, target);
  std::vector<const char*> words;
  words.reserve(arguments.size());
  for (const std::string& argument : arguments) words.push_back(argument.c_str());

  llvm::raw_string_ostream messages(log);
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> format(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(messages, format.get());
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, format.get(), &printer, false);

  clang::CompilerInstance instance;
  if (!clang::CompilerInvocation::CreateFromArgs(instance.getInvocation(), words, diagnostics))
    return nullptr;
  instance.createDiagnostics(&printer, false);
  instance.createFileManager(file_system(source));
  // It gets only a count of the errors, which says nothing in a log.
  instance.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  KernelAttributes attributes;
  Action action(&context, attributes, options.preprocessor, source.macros);
  if (!instance.ExecuteAction(action)) return nullptr;
  auto module = action.takeModule();
  if (module != nullptr) attach_attributes(*module, attributes);
  return module;
}

}  // namespace clique::daemon::compiler
