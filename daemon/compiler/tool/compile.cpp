#include "daemon/compiler/tool/compile.hpp"

#include <CL/cl.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "daemon/compiler/contract/program_binary.hpp"
#include "daemon/compiler/nvrtc/compile.hpp"
#include "daemon/compiler/tool/common/bitcode.hpp"
#include "daemon/compiler/tool/common/options.hpp"
#include "daemon/compiler/tool/common/target.hpp"
#include "daemon/compiler/tool/footprints/find_footprints.hpp"
#include "daemon/compiler/tool/frontend/describe_kernels.hpp"
#include "daemon/compiler/tool/frontend/frontend.hpp"
#include "daemon/compiler/tool/frontend/macro_checks.hpp"
#include "daemon/compiler/tool/linking/link.hpp"
#include "daemon/compiler/tool/passes/access_checks.hpp"
#include "daemon/compiler/tool/passes/check_program.hpp"
#include "daemon/compiler/tool/passes/codegen.hpp"
#include "daemon/compiler/tool/passes/inlining.hpp"
#include "daemon/compiler/tool/passes/kernel_calls.hpp"
#include "daemon/compiler/tool/passes/optimise.hpp"
#include "daemon/compiler/tool/passes/printf_lowering.hpp"
#include "daemon/compiler/tool/passes/relaxed_math.hpp"
#include "daemon/compiler/tool/spirv/cooperative_matrices.hpp"
#include "daemon/compiler/tool/spirv/spirv_module.hpp"
#include "daemon/compiler/tool/spirv/translate_spirv.hpp"

namespace clique::daemon::compiler {

namespace {

/// The program has errors. what() has the messages that are not yet in the log.
class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void note_diagnostic(const llvm::DiagnosticInfo* diagnostic, void* log) {
  if (diagnostic->getSeverity() > llvm::DS_Warning) return;
  llvm::raw_string_ostream stream(*static_cast<std::string*>(log));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  stream << (diagnostic->getSeverity() == llvm::DS_Error ? "error: " : "warning: ");
  diagnostic->print(printer);
  stream << '\n';
}

/// The compilation of one request.
class Compilation {
 public:
  Compilation(const Request& request, const DeviceLibrary& library, Result& result, const Settings& settings)
      : request_(request),
        library_(library),
        result_(result),
        settings_(settings),
        options_(parse_options(request.kind, request.options)),
        target_(target_for(request.architecture)) {
    // Keeping the names of values would only cost time.
    context_.setDiscardValueNames(settings.optimised == nullptr);
    context_.setDiagnosticHandlerCallBack(note_diagnostic, &result.log);
    binary_.architecture = target_.processor;
    binary_.options = request.options;
  }

  void run() {
    // For the lines of the source.
    options_.debug = options_.debug || request_.kind == Request::Kind::Analyse;
    module_ = make_module();
    if (module_ == nullptr) throw Failed("");
    if (request_.kind == Request::Kind::Analyse) return analyse();
    binary_.global_variables = size_of_global_variables(*module_);
    if (request_.kind == Request::Kind::Compile) {
      keep_bitcode(CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    } else if (options_.create_library) {
      keep_bitcode(CL_PROGRAM_BINARY_TYPE_LIBRARY);
    } else {
      make_executable();
    }
    result_.binary = serialize(binary_);
  }

 private:
  std::unique_ptr<llvm::Module> make_module() {
    if (request_.kind == Request::Kind::Link || !request_.inputs.empty()) return link();
    return request_.il.empty() ? compile() : translate();
  }

  std::unique_ptr<llvm::Module> compile() {
    Source source;
    source.text = request_.source;
    source.extensions = request_.extensions;
    source.folder = request_.folder;
    source.reads_disk = settings_.reads_disk;
    if (request_.kind == Request::Kind::Analyse) source.macros = &macros_;
    for (std::size_t i = 0; i < request_.headers.size(); ++i)
      source.headers.emplace_back(request_.header_names.at(i), request_.headers[i]);
    for (std::size_t i = 0; i < request_.files.size(); ++i)
      source.files.emplace_back(request_.file_paths.at(i), request_.files[i]);
    // The program may include a file that has the name which messages have for the program itself.
    const auto taken = [&](const auto& file) {
      return std::filesystem::path(file.first).filename() == source.name;
    };
    while (std::any_of(source.files.begin(), source.files.end(), taken) ||
           std::any_of(source.headers.begin(), source.headers.end(), taken))
      source.name.insert(0, "the_");
    return compile_source(context_, source, options_, target_, result_.log);
  }

  std::unique_ptr<llvm::Module> translate() {
    const bool has_matrices = std::find(request_.extensions.begin(), request_.extensions.end(),
                                        kCooperativeMatrix) != request_.extensions.end();
    const auto lowered = lower_cooperative_matrices(request_.il, has_matrices);
    const auto module =
        read_bitcode(context_, translate_spirv(lowered ? *lowered : request_.il, result_.log), "SPIR-V");
    llvm::StripDebugInfo(*module);
    return retarget_spirv(*module, make_target_machine(target_, options_)->createDataLayout(), options_);
  }

  std::unique_ptr<llvm::Module> link() {
    std::vector<ProgramBinary> objects;
    std::vector<Options> compiled_with;
    for (const protocol::Bytes& input : request_.inputs) {
      objects.push_back(parse_program_binary(input));
      if (objects.back().type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT)
        compiled_with.push_back(parse_options(Request::Kind::Compile, objects.back().options));
    }
    add_common_options(options_, compiled_with);
    return link_objects(context_, objects, result_.log);
  }

  void keep_bitcode(std::uint32_t type) {
    binary_.type = type;
    binary_.code = write_bitcode(*module_);
  }

  /// The steps from a complete program to PTX. A pass that only depends on the program and its options
  /// belongs into optimise(); a step that has to see the program before the device library is linked belongs
  /// here.
  void make_executable() {
    binary_.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    const auto machine = make_target_machine(target_, options_);
    module_->setDataLayout(machine->createDataLayout());
    separate_called_kernels(*module_);
    keep_what_kernels_need(*module_);
    fail_if(find_recursion(*module_));
    binary_.kernels = describe_kernels(*module_);
    for (Kernel& kernel : binary_.kernels) kernel.in_parts = request_.in_parts;
    if (!options_.opt_disable) mark_inlined(*module_);
    lower_printf(*module_, binary_);
    rename_spirv_builtins(*module_);
    if (options_.check_footprints) ask_for_access_checks(*module_);
    if (options_.fast_relaxed_math) use_native_functions(*module_);
    library_.link_into(*module_);
    if (!optimise(*module_, *machine, options_, binary_.kernels, settings_.optimisation_time))
      result_.log += "warning: optimising took more than " +
                     std::to_string(settings_.optimisation_time.count() / 1000) +
                     " seconds and was cut short; the code may be slow\n";
    fail_if(find_undefined(*module_));
    fail_if(find_impossible(binary_.kernels));
    if (settings_.optimised != nullptr) {
      llvm::raw_string_ostream stream(*settings_.optimised);
      module_->print(stream, nullptr);
    }
    const std::string ptx = generate_ptx(*module_, *machine);
    binary_.code.assign(ptx.begin(), ptx.end());
  }

  void analyse() {
    module_->setDataLayout(make_target_machine(target_, options_)->createDataLayout());
    separate_called_kernels(*module_);
    keep_what_kernels_need(*module_);
    fail_if(find_recursion(*module_));
    if (!macros_.unclear.empty())
      throw Failed("error: the program depends on the predefined macro " + macros_.unclear + "\n");
    const auto record = protocol::encode(Analysis{find_footprints(*module_), source_of(macros_)});
    result_.binary.assign(record.data(), record.data() + record.size());
  }

  static void fail_if(const std::string& messages) {
    if (!messages.empty()) throw Failed(messages);
  }

  const Request& request_;
  const DeviceLibrary& library_;
  Result& result_;
  const Settings& settings_;
  Options options_;
  Target target_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  MacroChecks macros_;
  ProgramBinary binary_;
};

}  // namespace

Result compile(const Request& request, const DeviceLibrary& library, const Settings& settings) {
  if (is_cuda_source(request.options) && request.il.empty()) return compile_cuda(request);
  Result result;
  try {
    Compilation(request, library, result, settings).run();
  } catch (const InvalidOptions& error) {
    result.status = error.status();
    result.log += error.what();
  } catch (const std::bad_alloc&) {
    result.status = CL_OUT_OF_HOST_MEMORY;
    result.log += "error: clique-compiler ran out of memory\n";
  } catch (const Failed& error) {
    result.status = failure_status(request.kind);
    result.log += error.what();
  } catch (const std::exception& error) {
    result.status = failure_status(request.kind);
    result.log += std::string("error: ") + error.what() + "\n";
  }
  if (result.status != CL_SUCCESS) result.binary.clear();
  return result;
}

}  // namespace clique::daemon::compiler
