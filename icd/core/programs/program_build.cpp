// Building, compiling and linking programs.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "icd/core/division/merge.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/programs/included_files.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/programs/program_analysis.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/workers/ask.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/sources/include_tree.hpp"

namespace clique::icd {

namespace {

constexpr std::string_view kEmptySource = "\n";
constexpr std::string_view kUniformGroups = "-cl-uniform-work-group-size";

/// The rest of the option that begins with `prefix`.
std::optional<std::string_view> find_option(std::string_view options, std::string_view prefix) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  for (std::size_t at = 0; (at = options.find_first_not_of(kSpace, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(options.find_first_of(kSpace, at), options.size());
    const std::string_view option = options.substr(at, end - at);
    if (option.starts_with(prefix)) return option.substr(prefix.size());
    at = end;
  }
  return std::nullopt;
}

/// Section 5.8.4.5: without -cl-std the language is an OpenCL C 1.x. Work-groups that do not divide the range
/// came with OpenCL C 2.0.
bool demands_uniform_groups(std::string_view options) {
  if (find_option(options, kUniformGroups)) return true;
  const auto standard = find_option(options, "-cl-std=");
  return !standard || standard->starts_with("CL1");
}

/// The number of -clique-check-footprints[=N]; nothing without the option. What is no number, the compiler
/// refuses.
std::optional<std::uint64_t> checked_without(std::string_view options) {
  auto number = find_option(options, "-clique-check-footprints");
  if (!number) return std::nullopt;
  if (number->starts_with('=')) number->remove_prefix(1);
  std::uint64_t bytes = 0;
  std::from_chars(number->data(), number->data() + number->size(), bytes);
  return bytes;
}

BuildTraits traits_of(Program::Origin origin, std::string_view options) {
  if (origin != Program::Origin::Source)
    return {.uniform_groups = find_option(options, kUniformGroups).has_value()};
  return {.from_source = true,
          .tells_args = find_option(options, "-cl-kernel-arg-info").has_value(),
          .uniform_groups = demands_uniform_groups(options),
          .checked_without = checked_without(options)};
}

/// The files that a program includes, or the reason why it must not be built.
struct Included {
  IncludedFiles files;
  std::string too_much;
};

Included included_by(const Program& program, const std::string& options,
                     const std::vector<Program::Header>& headers) {
  if (program.origin() != Program::Origin::Source) return {};
  std::map<std::string, std::string_view, std::less<>> texts;
  for (const Program::Header& header : headers) texts.emplace(header.name, header.program->source());
  try {
    return {find_included_files(program.source(), options, texts, working_directory()), {}};
  } catch (const protocol::TooMuchIncluded& error) {
    return {{}, error.what()};
  }
}

}  // namespace

protocol::ObjectId Program::ensure_on(Worker& worker) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(natives_.begin(), natives_.end(),
                                  [&](const Native& native) { return native.worker == &worker; });
  if (found == natives_.end()) {
    // Only programs from source get here: all others have been on their workers since they were created.
    // Drivers take a source of length 0 for a string without a given length, hence a source of one line
    // break.
    const std::string_view source = source_.empty() ? kEmptySource : source_;
    worker.link().post(protocol::CreateProgram{
        0, id_, context_->id(), protocol::ProgramKind::Source, {}, {{source.begin(), source.end()}}});
    natives_.push_back({&worker, id_});
    return id_;
  }
  if (found->outdated) replace(*found);
  return found->id;
}

void Program::replace(Native& native) {
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < all_devices_.size(); ++i)
    if (&all_devices_[i]->worker() == native.worker && builds_[i].status != CL_BUILD_IN_PROGRESS)
      lost.push_back(i);
  forget_functions(lost);
  for (const std::size_t index : lost) builds_[index] = {};
  native.worker->release_object(native.id);
  native.id = next_id();
  native.outdated = false;
  // The node accepted the module before it was specialized. If the node refuses it now, the build will fail
  // as well.
  native.worker->link().request<protocol::ProgramBuilt>(
      protocol::CreateProgram{0, native.id, context_->id(), protocol::ProgramKind::Il, {}, {specialized_il_}},
      [](protocol::ProgramBuilt*, const std::string&) {});
}

void Program::begin(const Shares& shares, const std::string& options, const BuildTraits& traits) {
  const std::lock_guard lock(mutex_);
  require(attached_ == 0, CL_INVALID_OPERATION, "the program has ", attached_.load(),
          " kernel objects; release them first");
  for (const Share& share : shares)
    for (const std::size_t index : share.indices)
      require(builds_[index].status != CL_BUILD_IN_PROGRESS, CL_INVALID_OPERATION,
              "the program is already being built for device ", all_devices_[index]->text(CL_DEVICE_NAME));
  traits_ = traits;
  analyses_.clear();
  for (const Share& share : shares) {
    forget_functions(share.indices);
    for (const std::size_t index : share.indices) {
      builds_[index] = {.status = CL_BUILD_IN_PROGRESS, .options = options};
      binaries_[index].reset();
    }
  }
}

cl_int Program::fail(const Shares& shares, cl_int status, const std::string& why) {
  const std::lock_guard lock(mutex_);
  for (const Share& share : shares)
    for (const std::size_t index : share.indices) {
      builds_[index].status = CL_BUILD_ERROR;
      builds_[index].log = "error: " + why + "\n";
    }
  return status;
}

cl_int Program::build(const Devices& devices, const std::string& options, Notify notify) {
  Shares shares = this->shares(with_hidden_members(devices));
  const Included included = included_by(*this, options, {});
  begin(shares, options, traits_of(origin_, options));
  if (!included.too_much.empty()) return fail(shares, CL_BUILD_PROGRAM_FAILURE, included.too_much);
  const bool in_parts = origin_ == Origin::Source && divisible_ &&
                        std::any_of(devices.begin(), devices.end(),
                                    [](const Ref<Device>& device) { return device->is_combined(); });
  std::vector<std::pair<Worker*, protocol::BuildProgram>> requests;
  for (const Share& share : shares) {
    Worker& worker = *share.worker;
    requests.emplace_back(
        &worker,
        protocol::BuildProgram{0, ensure_on(worker), share.native_ids(), options,
                               post_files(worker.link(), worker.known_texts(), included.files), in_parts});
  }
  if (in_parts) analyse(devices, options, included.files);
  return run(std::move(shares), std::move(requests), notify);
}

void Program::analyse(const Devices& devices, const std::string& options, const IncludedFiles& files) {
  for (const Ref<Device>& device : devices) {
    if (!device->is_combined()) continue;
    Worker& worker = device->worker();
    auto analysis = ProgramAnalysis::begin(worker, {0, id_on(worker), device->id(), options, 0}, files);
    const std::lock_guard lock(mutex_);
    analyses_.emplace_back(device.get(), std::move(analysis));
  }
}

std::shared_ptr<ProgramAnalysis> Program::analysis_for(const Device& combined) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [device, analysis] : analyses_)
    if (device == &combined) return analysis;
  return nullptr;
}

Ref<Program> Program::merging_program(const Ref<Device>& combined, const MergedChange& merged, bool wait) {
  const std::string source = merging_source(merged);
  Ref<Program> program;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [device, each] : merging_)
      if (device == combined.get() && each->source() == source) return each;
    program = merging_.emplace_back(combined.get(), from_source(context_, source)).second;
    program->divisible_ = false;
  }
  const auto ignore = [](cl_program /*program*/, void* /*user_data*/) {};
  program->build({combined}, "", wait ? Notify{} : Notify{ignore});
  return program;
}

cl_int Program::compile(const Devices& devices, const std::string& options,
                        const std::vector<Header>& headers, Notify notify) {
  Shares shares = this->shares(devices);
  const Included included = included_by(*this, options, headers);
  begin(shares, options, traits_of(origin_, options));
  if (!included.too_much.empty()) return fail(shares, CL_COMPILE_PROGRAM_FAILURE, included.too_much);
  std::vector<std::pair<Worker*, protocol::CompileProgram>> requests;
  for (const Share& share : shares) {
    Worker& worker = *share.worker;
    protocol::CompileProgram request{0,
                                     ensure_on(worker),
                                     share.native_ids(),
                                     options,
                                     {},
                                     {},
                                     post_files(worker.link(), worker.known_texts(), included.files)};
    for (const Header& header : headers) {
      request.headers.push_back(header.program->ensure_on(*share.worker));
      request.header_names.push_back(header.name);
    }
    requests.emplace_back(share.worker, std::move(request));
  }
  return run(std::move(shares), std::move(requests), notify);
}

bool Program::linkable(const Device& device) const {
  if (!has(device)) return false;
  const Build build = build_of(device);
  return build.type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || build.type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
}

BuildTraits Program::linked_traits(const std::string& options, const std::vector<Ref<Program>>& inputs) {
  BuildTraits traits{.uniform_groups = true};
  for (const Ref<Program>& input : inputs) {
    const std::lock_guard lock(input->mutex_);
    traits.from_source = traits.from_source || input->traits_.from_source;
    traits.tells_args = traits.tells_args || input->traits_.tells_args;
    traits.uniform_groups = traits.uniform_groups && input->traits_.uniform_groups;
  }
  traits.uniform_groups = traits.uniform_groups || find_option(options, kUniformGroups);
  return traits;
}

cl_program Program::link(Ref<Context> context, Devices devices, const std::string& options,
                         const std::vector<Ref<Program>>& inputs, Notify notify, cl_int& status) {
  Devices linked;
  for (const Ref<Device>& device : devices) {
    const auto count = std::count_if(inputs.begin(), inputs.end(),
                                     [&](const Ref<Program>& input) { return input->linkable(*device); });
    if (count == 0) continue;
    require(static_cast<std::size_t>(count) == inputs.size(), CL_INVALID_OPERATION, "device ",
            device->text(CL_DEVICE_NAME), " has a compiled binary in ", count, " of ", inputs.size(),
            " programs; it has to be all or none");
    linked.push_back(device);
  }
  require(!linked.empty(), CL_INVALID_OPERATION, "no device has a compiled binary in all input programs");

  const Ref<Program> program(new Program(std::move(context), Origin::Link, std::move(devices)));
  Shares shares = program->shares(linked);
  program->begin(shares, options, linked_traits(options, inputs));
  std::vector<std::pair<Worker*, protocol::LinkProgram>> requests;
  for (const Share& share : shares) {
    program->natives_.push_back({share.worker, program->id_});
    protocol::LinkProgram request{0, program->id_, program->context_->id(), share.native_ids(), options, {}};
    for (const Ref<Program>& input : inputs) request.inputs.push_back(input->id_on(*share.worker));
    requests.emplace_back(share.worker, std::move(request));
  }
  program->give_out();
  status = program->run(std::move(shares), std::move(requests), notify);
  // A link that fails leaves a program with a log; one that is refused leaves none.
  if (status == CL_SUCCESS || status == CL_LINK_PROGRAM_FAILURE) return program.get();
  program->release();
  return nullptr;
}

namespace {

constexpr const char* kind_of(const protocol::BuildProgram& /*request*/) {
  return "build";
}
constexpr const char* kind_of(const protocol::CompileProgram& /*request*/) {
  return "compile";
}
constexpr const char* kind_of(const protocol::LinkProgram& /*request*/) {
  return "link";
}

}  // namespace

template <typename M>
cl_int Program::run(Shares shares, std::vector<std::pair<Worker*, M>> requests, Notify notify) {
  const auto outcome = std::make_shared<std::atomic<cl_int>>(CL_SUCCESS);
  // A number for the trace, which connects the compilations with this call.
  const trace::Flow flow = trace::on() ? next_id() : 0;
  if (trace::Call* const call = trace::Call::current()) call->connect(flow);
  const auto replies = ask<protocol::ProgramBuilt>(
      std::move(requests), [program = Ref<Program>(this), shares = std::move(shares), notify, outcome, flow,
                            begin = trace::now()](Built::Answers& answers) {
        if (flow != 0) program->show_compilations(kind_of(M{}), shares, answers, flow, begin);
        *outcome = program->finish(shares, answers);
        if (notify.function != nullptr) notify.function(program.get(), notify.user_data);
      });
  if (notify.function != nullptr) return CL_SUCCESS;
  replies->wait();
  return *outcome;
}

void Program::show_compilations(const char* kind, const Shares& shares, const Built::Answers& answers,
                                trace::Flow flow, std::int64_t begin) const {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Built::Answer& answer = answers[i];
    show({kind, id_, shares[i].ids.size(), answer.reply ? answer.reply->status : CL_OUT_OF_RESOURCES},
         *shares[i].worker, flow, begin, answer.arrived.time_since_epoch() / std::chrono::nanoseconds(1));
  }
}

cl_int Program::finish(const Shares& shares, Built::Answers& answers) {
  const std::lock_guard lock(mutex_);
  cl_int outcome = CL_SUCCESS;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const cl_int status = take(shares[i], answers[i]);
    if (outcome == CL_SUCCESS && !is_hidden(shares[i])) outcome = status;
  }
  return outcome;
}

cl_int Program::take(const Share& share, Built::Answer& answer) {
  const cl_int status = answer.reply ? answer.reply->status : CL_OUT_OF_RESOURCES;
  if (answer.reply) {
    for (const protocol::BuildResult& result : answer.reply->devices) {
      for (std::size_t i = 0; i < share.ids.size(); ++i) {
        if (share.ids[i] != result.device) continue;
        Build& build = builds_[share.indices[i]];
        build.status = result.build_status;
        build.type = result.binary_type;
        build.global_variables = result.global_variables;
        build.log = result.log;
      }
    }
  }
  for (const std::size_t index : share.indices) {
    Build& build = builds_[index];
    if (build.status != CL_BUILD_IN_PROGRESS) continue;
    build.status = status == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    if (!answer.reply) build.log = answer.failure;
  }
  if (answer.reply) add_functions(share, answer.reply->kernels);
  return status;
}

void Program::add_functions(const Share& share, std::vector<protocol::KernelDescription>& described) {
  for (protocol::KernelDescription& description : described) {
    KernelFunction function = function_of(description, traits_);
    for (const protocol::KernelOnDevice& on : description.devices)
      for (std::size_t i = 0; i < share.ids.size(); ++i) {
        if (share.ids[i] != on.device) continue;
        const std::size_t index = share.indices[i];
        (index < devices_.size() ? function.devices : function.members)
            .push_back(on_device(all_devices_[index], on.work_group, traits_));
      }
    add_function(std::move(function));
  }
}

void Program::add_function(KernelFunction function) {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const auto& known) { return known->name == function.name; });
  if (found == functions_.end()) {
    // A member alone, if the combined device's own build has failed, is of no use.
    if (!function.devices.empty())
      functions_.push_back(std::make_shared<const KernelFunction>(std::move(function)));
    return;
  }
  // A copy, since kernels may share the old one.
  auto merged = std::make_shared<KernelFunction>(**found);
  merged->consistent = merged->consistent && same_definition(*merged, function);
  std::move(function.devices.begin(), function.devices.end(), std::back_inserter(merged->devices));
  std::move(function.members.begin(), function.members.end(), std::back_inserter(merged->members));
  *found = std::move(merged);
}

void Program::forget_functions(const std::vector<std::size_t>& indices) {
  const auto forgotten = [&](const KernelFunction::OnDevice& on) {
    return std::any_of(indices.begin(), indices.end(),
                       [&](std::size_t index) { return all_devices_[index] == on.device; });
  };
  for (auto& known : functions_) {
    auto rest = std::make_shared<KernelFunction>(*known);
    std::erase_if(rest->devices, forgotten);
    std::erase_if(rest->members, forgotten);
    known = std::move(rest);
  }
  std::erase_if(functions_, [](const auto& function) { return function->devices.empty(); });
}

}  // namespace clique::icd
