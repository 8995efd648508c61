#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/programs/kernel_function.hpp"
#include "icd/core/workers/replies.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/messages/programs.hpp"

namespace clique::icd {

class Context;
class Kernel;
class ProgramAnalysis;
class Worker;
struct IncludedFiles;
struct MergedChange;

/// OpenCL 3.0, section 5.8. A program has the same id on all workers of its context. Workers get a program
/// from source with its first build there, and any other program when it is created. Any thread.
class Program final : public Object<_cl_program, Kind::Program, CL_INVALID_PROGRAM> {
 public:
  enum class Origin : std::uint8_t { Source, Binary, Il, BuiltInKernels, Link };

  /// The callback of clBuildProgram, clCompileProgram and clLinkProgram. It is called once, on a receiving
  /// thread, when all devices are done. Without a function the calls wait instead.
  struct Notify {
    void(CL_CALLBACK* function)(cl_program, void*) = nullptr;
    void* user_data = nullptr;
  };
  /// The answers of clGetProgramBuildInfo for one device.
  struct Build {
    cl_build_status status = CL_BUILD_NONE;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    std::size_t global_variables = 0;
    std::string options = {};
    std::string log = {};
  };
  using Devices = std::vector<Ref<Device>>;
  using Binary = std::shared_ptr<const protocol::Bytes>;

  static Ref<Program> from_source(Ref<Context> context, std::string source);
  /// Waits for the nodes. Throws Error(CL_INVALID_OPERATION) if no device accepts intermediate language, and
  /// the status of the first node that refuses the program.
  static Ref<Program> from_il(Ref<Context> context, protocol::Bytes il);
  /// Waits for the nodes. Sets `statuses`, one for each device, then throws the status of the first node that
  /// refuses the program.
  static Ref<Program> from_binaries(Ref<Context> context, Devices devices,
                                    std::vector<protocol::Bytes> binaries, std::span<cl_int> statuses);
  /// Waits for the nodes. Throws the status of the first node that refuses the program.
  static Ref<Program> from_built_in_kernels(Ref<Context> context, Devices devices, const std::string& names);
  /// clLinkProgram. Gives the new program to the application before a callback can see it.
  /// @param status gets what the call returns.
  /// @returns nullptr if the link could not begin: then there is no program.
  /// Throws Error(CL_INVALID_OPERATION) unless each device has a compiled binary or library either in all
  /// inputs or in none.
  static cl_program link(Ref<Context> context, Devices devices, const std::string& options,
                         const std::vector<Ref<Program>>& inputs, Notify notify, cl_int& status);
  ~Program() override;

  const Ref<Context>& context() const { return context_; }
  Origin origin() const { return origin_; }
  /// The devices that the program is associated with.
  const Devices& devices() const { return devices_; }
  bool has(const Device& device) const;
  const std::string& source() const { return source_; }
  const protocol::Bytes& il() const { return il_; }
  /// The program's id on a worker; 0 if the worker does not have it.
  protocol::ObjectId id_on(const Worker& worker) const;

  /// clBuildProgram. @returns CL_SUCCESS, or the first failure that a node's driver reports; with a callback,
  /// always CL_SUCCESS, unless the program includes too much: then no build begins, and the callback is not
  /// called. Throws Error(CL_INVALID_OPERATION) if kernels are attached, or one of the devices is
  /// being built for.
  cl_int build(const Devices& devices, const std::string& options, Notify notify);
  struct Header {
    std::string name;
    Ref<Program> program;
  };
  /// clCompileProgram. Returns and throws as build() does.
  cl_int compile(const Devices& devices, const std::string& options, const std::vector<Header>& headers,
                 Notify notify);
  /// clSetProgramSpecializationConstant: `value` applies to builds from now on. Throws Error:
  /// CL_INVALID_PROGRAM if the program is not from intermediate language, CL_INVALID_SPEC_ID,
  /// CL_INVALID_VALUE for a wrong size.
  void specialize(cl_uint constant, std::span<const std::byte> value);

  /// The state of the latest build for one of devices().
  Build build_of(const Device& device) const;
  /// The binaries in the order of devices(), empty where there is none. Waits for the nodes that have not
  /// been asked since the latest build. Throws Error with the status that a node returns, or
  /// CL_OUT_OF_RESOURCES if the node is lost.
  std::vector<Binary> binaries();

  /// What is known of the kernels for launches on a combined device; null if nothing will be.
  std::shared_ptr<ProgramAnalysis> analysis_for(const Device& combined) const;

  /// The program of merging_source() that launches of this one need on a combined device. The first call for
  /// an operation begins to build it; with `wait`, the call returns when it is built, or cannot be.
  Ref<Program> merging_program(const Ref<Device>& combined, const MergedChange& merged, bool wait);

  /// The names of the kernels, as the first device's driver lists them. Throws
  /// Error(CL_INVALID_PROGRAM_EXECUTABLE) if nothing was built.
  std::vector<std::string> kernel_names() const;
  /// Throws Error: CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_DEFINITION.
  Ref<Kernel> create_kernel(const std::string& name);
  /// One kernel for each function that is the same on all devices. Throws
  /// Error(CL_INVALID_PROGRAM_EXECUTABLE).
  std::vector<Ref<Kernel>> create_kernels();
  /// Counts a new kernel object. The program cannot be built again while there are any.
  void attach() { ++attached_; }
  /// Counts a kernel object less: the application has released it.
  void detach() { --attached_; }

 private:
  using Built = Replies<protocol::ProgramBuilt>;
  /// The devices of the program that one worker serves.
  struct Share {
    Worker* worker = nullptr;
    std::vector<std::size_t> indices;  ///< in all_devices_
    std::vector<protocol::DeviceId> ids;
    /// The ids, each once: a combined device has that of its first member.
    std::vector<protocol::DeviceId> native_ids() const;
  };
  using Shares = std::vector<Share>;

  Program(Ref<Context> context, Origin origin, Devices devices);

  /// Adds the members of combined devices on which a program from source is built as well.
  Devices with_hidden_members(const Devices& devices) const;
  /// Whether the share has none of the devices that the application knows.
  bool is_hidden(const Share& share) const;
  Shares shares(const Devices& devices) const;
  std::size_t index_of(const Device& device) const;
  /// Whether the latest build for the device made a compiled binary or library.
  bool linkable(const Device& device) const;
  /// Creates the program on all workers and waits for their answers. Throws the status of the first one that
  /// refuses it.
  /// @param code_of returns the code for a share.
  /// @param statuses gets the status of each device, unless it is empty.
  template <typename CodeOf>
  void create(protocol::ProgramKind kind, CodeOf&& code_of, std::span<cl_int> statuses = {});
  /// The program on one worker.
  struct Native {
    Worker* worker = nullptr;
    protocol::ObjectId id = 0;
    bool outdated = false;  ///< created before the latest specialization
  };
  /// Under mutex_.
  const Native* native_on(const Worker& worker) const;
  /// Creates the program anew with the latest specialization. Discards the builds for the worker's other
  /// devices.
  void replace(Native& native);
  /// Creates the program on the worker if it does not exist there, or exists without the latest
  /// specialization.
  /// @returns its id there.
  protocol::ObjectId ensure_on(Worker& worker);
  static void tell_statuses(const Share& share, const Built::Answer& answer, std::span<cl_int> statuses);
  /// Marks the devices as being built. Throws Error(CL_INVALID_OPERATION) if a build must not begin.
  void begin(const Shares& shares, const std::string& options, const BuildTraits& traits);
  /// Asks for what divided launches on combined devices need.
  void analyse(const Devices& devices, const std::string& options, const IncludedFiles& files);
  /// Ends the builds that begin() began. @returns `status`
  cl_int fail(const Shares& shares, cl_int status, const std::string& why);
  static BuildTraits linked_traits(const std::string& options, const std::vector<Ref<Program>>& inputs);
  /// Sends the requests. @returns the status of the call: without a callback, that of all builds.
  template <typename M>
  cl_int run(Shares shares, std::vector<std::pair<Worker*, M>> requests, Notify notify);
  /// Has the trace show when the workers compiled.
  void show_compilations(const char* kind, const Shares& shares, const Built::Answers& answers,
                         trace::Flow flow, std::int64_t begin) const;
  /// Takes the answers of all workers. @returns the first failure.
  cl_int finish(const Shares& shares, Built::Answers& answers);
  /// Takes the answer of one worker, or the reason why there is none. @returns the status of the native call.
  /// This and all functions below are called under mutex_.
  cl_int take(const Share& share, Built::Answer& answer);
  void add_functions(const Share& share, std::vector<protocol::KernelDescription>& described);
  void add_function(KernelFunction function);
  void forget_functions(const std::vector<std::size_t>& indices);
  bool executable() const;

  Ref<Context> context_;
  const Origin origin_;
  const Devices devices_;
  /// devices_, and the members of combined devices that a program from source is built for as well.
  const Devices all_devices_;
  std::string source_;
  /// Whether launches of a program from source may be divided. Otherwise they need neither members of
  /// combined devices nor an analysis.
  bool divisible_ = true;
  protocol::Bytes il_;

  mutable std::mutex mutex_;
  protocol::ObjectId id_ = next_id();
  std::vector<Native> natives_;
  protocol::Bytes specialized_il_;
  std::vector<Build> builds_;     ///< of all_devices_
  std::vector<Binary> binaries_;  ///< of all_devices_; only those that were asked for, of devices_
  /// For combined devices.
  std::vector<std::pair<const Device*, std::shared_ptr<ProgramAnalysis>>> analyses_;
  std::vector<std::pair<const Device*, Ref<Program>>> merging_;
  BuildTraits traits_;
  std::vector<std::shared_ptr<const KernelFunction>> functions_;
  std::atomic<std::size_t> attached_{0};
};

}  // namespace clique::icd
