#include "icd/core/programs/program.hpp"

#include <algorithm>

#include "icd/core/objects/context.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/spirv.hpp"
#include "icd/core/workers/ask.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"

namespace clique::icd {

Program::Program(Ref<Context> context, Origin origin, Devices devices)
    : context_(std::move(context)),
      origin_(origin),
      devices_(std::move(devices)),
      all_devices_(origin == Origin::Source ? with_members(devices_) : devices_),
      builds_(all_devices_.size()),
      binaries_(all_devices_.size()) {}

Program::~Program() {
  for (const Native& native : natives_) native.worker->release_object(native.id);
}

Ref<Program> Program::from_source(Ref<Context> context, std::string source) {
  Devices devices = context->devices();
  Ref<Program> program(new Program(std::move(context), Origin::Source, std::move(devices)));
  program->source_ = std::move(source);
  return program;
}

Ref<Program> Program::from_il(Ref<Context> context, protocol::Bytes il) {
  Devices devices = context->devices();
  std::erase_if(devices,
                [](const Ref<Device>& device) { return device->text(CL_DEVICE_IL_VERSION).empty(); });
  require(!devices.empty(), CL_INVALID_OPERATION, "no device of the context supports intermediate language");
  Ref<Program> program(new Program(std::move(context), Origin::Il, std::move(devices)));
  program->il_ = std::move(il);
  program->create(protocol::ProgramKind::Il,
                  [&](const Share&) { return std::vector<protocol::Bytes>{program->il_}; });
  return program;
}

Ref<Program> Program::from_binaries(Ref<Context> context, Devices devices,
                                    std::vector<protocol::Bytes> binaries, std::span<cl_int> statuses) {
  Ref<Program> program(new Program(std::move(context), Origin::Binary, std::move(devices)));
  const auto code_of = [&](const Share& share) {
    std::vector<protocol::Bytes> code;
    for (const protocol::DeviceId id : share.native_ids()) {
      const auto at = std::find(share.ids.begin(), share.ids.end(), id) - share.ids.begin();
      code.push_back(std::move(binaries[share.indices[static_cast<std::size_t>(at)]]));
    }
    return code;
  };
  program->create(protocol::ProgramKind::Binary, code_of, statuses);
  return program;
}

Ref<Program> Program::from_built_in_kernels(Ref<Context> context, Devices devices, const std::string& names) {
  Ref<Program> program(new Program(std::move(context), Origin::BuiltInKernels, std::move(devices)));
  program->create(protocol::ProgramKind::BuiltInKernels,
                  [&](const Share&) { return std::vector<protocol::Bytes>{{names.begin(), names.end()}}; });
  return program;
}

template <typename CodeOf>
void Program::create(protocol::ProgramKind kind, CodeOf&& code_of, std::span<cl_int> statuses) {
  const Shares shares = this->shares(devices_);
  std::vector<std::pair<Worker*, protocol::CreateProgram>> requests;
  for (const Share& share : shares) {
    natives_.push_back({share.worker, id_});
    requests.emplace_back(share.worker, protocol::CreateProgram{0, id_, context_->id(), kind,
                                                                share.native_ids(), code_of(share)});
  }
  const auto replies = ask<protocol::ProgramBuilt>(std::move(requests));
  Built::Answers& answers = replies->wait();
  for (std::size_t i = 0; i < shares.size() && !statuses.empty(); ++i)
    tell_statuses(shares[i], answers[i], statuses);
  const cl_int status = finish(shares, answers);
  require(status == CL_SUCCESS, status, "the driver of a node refused the program");
}

void Program::tell_statuses(const Share& share, const Built::Answer& answer, std::span<cl_int> statuses) {
  for (const std::size_t index : share.indices)
    statuses[index] = answer.reply ? answer.reply->status : CL_OUT_OF_RESOURCES;
  if (!answer.reply) return;
  for (const protocol::BuildResult& result : answer.reply->devices)
    for (std::size_t i = 0; i < share.ids.size(); ++i)
      if (share.ids[i] == result.device) statuses[share.indices[i]] = result.binary_status;
}

bool Program::has(const Device& device) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const Ref<Device>& candidate) { return candidate.get() == &device; });
}

std::size_t Program::index_of(const Device& device) const {
  const auto found = std::find_if(all_devices_.begin(), all_devices_.end(),
                                  [&](const Ref<Device>& candidate) { return candidate.get() == &device; });
  if (found == all_devices_.end())
    throw Error(CL_INVALID_DEVICE, "the program is not associated with device ", device.text(CL_DEVICE_NAME));
  return static_cast<std::size_t>(found - all_devices_.begin());
}

const Program::Native* Program::native_on(const Worker& worker) const {
  const auto found = std::find_if(natives_.begin(), natives_.end(),
                                  [&](const Native& native) { return native.worker == &worker; });
  return found == natives_.end() ? nullptr : &*found;
}

protocol::ObjectId Program::id_on(const Worker& worker) const {
  const std::lock_guard lock(mutex_);
  const Native* native = native_on(worker);
  return native == nullptr ? 0 : native->id;
}

std::vector<protocol::DeviceId> Program::Share::native_ids() const {
  std::vector<protocol::DeviceId> once;
  for (const protocol::DeviceId id : ids)
    if (std::find(once.begin(), once.end(), id) == once.end()) once.push_back(id);
  return once;
}

Program::Devices Program::with_hidden_members(const Devices& devices) const {
  Devices all = devices;
  for (std::size_t i = devices_.size(); divisible_ && i < all_devices_.size(); ++i) {
    const Ref<Device>& member = all_devices_[i];
    const bool wanted = std::any_of(devices.begin(), devices.end(), [&](const Ref<Device>& device) {
      // For its first member, the device itself stands.
      return device->is_combined() && std::find(device->members().begin() + 1, device->members().end(),
                                                member) != device->members().end();
    });
    if (wanted) all.push_back(member);
  }
  return all;
}

bool Program::is_hidden(const Share& share) const {
  return std::all_of(share.indices.begin(), share.indices.end(),
                     [&](std::size_t index) { return index >= devices_.size(); });
}

Program::Shares Program::shares(const Devices& devices) const {
  Shares shares;
  for (const Ref<Device>& device : devices) {
    Worker& worker = device->worker();
    auto share = std::find_if(shares.begin(), shares.end(),
                              [&](const Share& candidate) { return candidate.worker == &worker; });
    if (share == shares.end()) share = shares.insert(shares.end(), {&worker, {}, {}});
    const std::size_t index = index_of(*device);
    if (std::find(share->indices.begin(), share->indices.end(), index) != share->indices.end()) continue;
    share->indices.push_back(index);
    share->ids.push_back(device->id());
  }
  return shares;
}

void Program::specialize(cl_uint constant, std::span<const std::byte> value) {
  require(origin_ == Origin::Il, CL_INVALID_PROGRAM,
          "only programs from intermediate language have specialization constants");
  const std::lock_guard lock(mutex_);
  protocol::Bytes specialized = specialized_il_.empty() ? il_ : specialized_il_;
  specialize_spirv(specialized, constant, value);
  specialized_il_ = std::move(specialized);
  for (Native& native : natives_) native.outdated = true;
}

Program::Build Program::build_of(const Device& device) const {
  const std::lock_guard lock(mutex_);
  return builds_[index_of(device)];
}

std::vector<Program::Binary> Program::binaries() {
  std::vector<std::size_t> missing;
  std::vector<std::pair<Worker*, protocol::GetProgramBinary>> requests;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      Worker& worker = devices_[i]->worker();
      const Native* native = native_on(worker);
      const bool exists = origin_ == Origin::Binary || builds_[i].status == CL_BUILD_SUCCESS;
      if (native == nullptr || !exists || binaries_[i]) continue;
      missing.push_back(i);
      requests.emplace_back(&worker, protocol::GetProgramBinary{0, native->id, devices_[i]->id()});
    }
  }
  const auto replies = ask<protocol::ProgramBinary>(std::move(requests));
  auto& answers = replies->wait();
  for (auto& answer : answers) {
    if (!answer.reply) throw Error(CL_OUT_OF_RESOURCES, answer.failure);
    require(answer.reply->status == CL_SUCCESS, answer.reply->status, "node ", answer.worker->node().name(),
            " did not return the program's binary");
  }
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < missing.size(); ++i)
    binaries_[missing[i]] = std::make_shared<const protocol::Bytes>(std::move(answers[i].reply->binary));
  return {binaries_.begin(), binaries_.begin() + static_cast<std::ptrdiff_t>(devices_.size())};
}

bool Program::executable() const {
  const auto known = builds_.begin() + static_cast<std::ptrdiff_t>(devices_.size());
  return !functions_.empty() || std::any_of(builds_.begin(), known, [](const Build& build) {
    return build.status == CL_BUILD_SUCCESS && build.type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  });
}

std::vector<std::string> Program::kernel_names() const {
  const std::lock_guard lock(mutex_);
  require(executable(), CL_INVALID_PROGRAM_EXECUTABLE,
          "the program has not been built successfully for any device");
  std::vector<std::string> names;
  for (const auto& function : functions_) names.push_back(function->name);
  return names;
}

Ref<Kernel> Program::create_kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  require(executable(), CL_INVALID_PROGRAM_EXECUTABLE,
          "the program has not been built successfully for any device");
  const auto found = std::find_if(functions_.begin(), functions_.end(), [&](const auto& function) {
    return function->name == name || (!name.empty() && function->entry == name);
  });
  require(found != functions_.end(), CL_INVALID_KERNEL_NAME, "the program has no kernel ", name);
  require((*found)->consistent, CL_INVALID_KERNEL_DEFINITION, "kernel ", name,
          " has different definitions on different devices");
  return Ref<Kernel>(new Kernel(Ref<Program>(this), *found));
}

std::vector<Ref<Kernel>> Program::create_kernels() {
  const std::lock_guard lock(mutex_);
  require(executable(), CL_INVALID_PROGRAM_EXECUTABLE,
          "the program has not been built successfully for any device");
  std::vector<Ref<Kernel>> kernels;
  for (const auto& function : functions_)
    if (function->consistent) kernels.emplace_back(new Kernel(Ref<Program>(this), function));
  return kernels;
}

}  // namespace clique::icd
