#include "daemon/compiler/tool/linking/device_library.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <filesystem>
#include <stdexcept>

#include "daemon/compiler/contract/libdevice.hpp"
#include "daemon/compiler/tool/common/bitcode.hpp"

namespace clique::daemon::compiler {

namespace {

std::string beside_this_program(const char* name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::unique_ptr<llvm::MemoryBuffer> open_file(const std::string& path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) throw std::runtime_error("cannot read " + path + ": " + file.getError().message());
  return std::move(*file);
}

std::span<const std::uint8_t> bytes_of(const llvm::MemoryBuffer& file) {
  return {reinterpret_cast<const std::uint8_t*>(file.getBufferStart()), file.getBufferSize()};
}

std::unique_ptr<llvm::MemoryBuffer> open_libdevice() {
  const std::string path = find_libdevice();
  return path.empty() ? nullptr : open_file(path);
}

}  // namespace

DeviceLibrary::DeviceLibrary(const std::string& path)
    : file_(open_file(path.empty() ? beside_this_program("device-library.pack") : path)),
      libdevice_(open_libdevice()) {
  pack_.emplace(bytes_of(*file_));
}

DeviceLibrary::~DeviceLibrary() = default;

/// Links the library into one program.
class DeviceLibrary::Linking {
 public:
  Linking(const DeviceLibrary& library, llvm::Module& module)
      : library_(library), module_(module), linker_(module) {}

  void run() {
    for (const llvm::GlobalValue& value : module_.global_values())
      if (value.isDeclaration() && !value.use_empty() && !value.getName().starts_with("llvm."))
        want(value.getName());
    while (!wanted_.empty()) {
      const std::string name = std::move(wanted_.back());
      wanted_.pop_back();
      add(name);
    }
    if (libdevice_needed_) add_libdevice();
  }

 private:
  void want(std::string_view name) {
    if (seen_.insert(std::string(name)).second) wanted_.emplace_back(name);
  }

  void add(const std::string& name) {
    if (name.starts_with(kLibdevicePrefix)) libdevice_needed_ = true;
    const llvm::GlobalValue* const defined = module_.getNamedValue(name);
    if (defined != nullptr && !defined->isDeclaration()) return;
    const auto candidates = library_.pack_->find(name);
    if (candidates.empty()) return;
    const Pack::Member& member = choose(candidates);
    for (std::uint32_t i = 0; i < member.needs; ++i) want(library_.pack_->need(member.first_need + i));
    if (linker_.linkInModule(read_bitcode(module_.getContext(), member.bitcode, name)))
      throw std::runtime_error("cannot link the built-in function '" + name + "' of the device library");
  }

  const Pack::Member& choose(const std::vector<Pack::Member>& candidates) const {
    if (library_.libdevice_ == nullptr)
      for (const Pack::Member& candidate : candidates)
        if (!candidate.conditional) return candidate;
    return candidates.front();
  }

  void add_libdevice() {
    if (library_.libdevice_ == nullptr) return;
    auto lazy = llvm::getLazyBitcodeModule(library_.libdevice_->getMemBufferRef(), module_.getContext());
    if (!lazy)
      throw std::runtime_error("cannot read libdevice (" + find_libdevice() +
                               "): " + llvm::toString(lazy.takeError()));
    // libdevice only says that it is for NVIDIA's GPUs, which the linker would take for a different target.
    (*lazy)->setTargetTriple(module_.getTargetTriple());
    (*lazy)->setDataLayout(module_.getDataLayout());
    if (linker_.linkInModule(std::move(*lazy), llvm::Linker::LinkOnlyNeeded))
      throw std::runtime_error("cannot link libdevice (" + find_libdevice() + ")");
  }

  const DeviceLibrary& library_;
  llvm::Module& module_;
  llvm::Linker linker_;
  std::set<std::string> seen_;
  std::vector<std::string> wanted_;
  bool libdevice_needed_ = false;
};

void DeviceLibrary::link_into(llvm::Module& module) const {
  Linking(*this, module).run();
}

}  // namespace clique::daemon::compiler
