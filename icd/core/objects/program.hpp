#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "icd/core/objects/context.hpp"
#include "icd/core/objects/kernel_function.hpp"
#include "icd/core/objects/object.hpp"
#include "icd/core/workers/replies.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

class Kernel;

/// OpenCL 3.0, section 5.8. A program is on a worker of its context, under the same id on each: from source,
/// once something is built there; from anything else, from the beginning. Any thread.
class Program final : public Object<_cl_program, Kind::Program, CL_INVALID_PROGRAM> {
 public:
  enum class Origin : std::uint8_t { Source, Binary, Il, BuiltInKernels, Link };

  /// What clBuildProgram, clCompileProgram and clLinkProgram call when all devices are done, once, on a
  /// receiving thread. Without a function they wait instead.
  struct Notify {
    void(CL_CALLBACK* function)(cl_program, void*) = nullptr;
    void* user_data = nullptr;
  };
  /// What clGetProgramBuildInfo tells of one device.
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
  /// Waits for the nodes. Throws Error(CL_INVALID_OPERATION) where no device takes intermediate language, and
  /// what the first node that refuses answers.
  static Ref<Program> from_il(Ref<Context> context, protocol::Bytes il);
  /// Waits for the nodes. Throws what the first node that refuses answers, after `statuses` got each device's
  /// own.
  static Ref<Program> from_binaries(Ref<Context> context, Devices devices,
                                    std::vector<protocol::Bytes> binaries, std::span<cl_int> statuses);
  /// Waits for the nodes. Throws what the first node that refuses answers.
  static Ref<Program> from_built_in_kernels(Ref<Context> context, Devices devices, const std::string& names);
  /// clLinkProgram. Gives the new program out before anything can call back with it.
  /// @param status gets what the call returns.
  /// @returns nullptr where the link could not begin: then there is no program.
  /// Throws Error(CL_INVALID_OPERATION) unless each device has a compiled binary or library in all inputs or
  /// in none.
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
  /// The program's id on a worker; 0 where it is not there.
  protocol::ObjectId id_on(const Worker& worker) const;

  /// clBuildProgram. @returns CL_SUCCESS, or the first failure that a node's driver returned (with a
  /// callback: CL_SUCCESS). Throws Error(CL_INVALID_OPERATION) where kernels are attached or a build of one
  /// of the devices is under way.
  cl_int build(const Devices& devices, const std::string& options, Notify notify);
  struct Header {
    std::string name;
    Ref<Program> program;
  };
  /// clCompileProgram; as build().
  cl_int compile(const Devices& devices, const std::string& options, const std::vector<Header>& headers,
                 Notify notify);
  /// clSetProgramSpecializationConstant: `value` counts for builds from now on. Throws Error:
  /// CL_INVALID_PROGRAM for a program that is not from intermediate language, CL_INVALID_SPEC_ID,
  /// CL_INVALID_VALUE for a wrong size.
  void specialize(cl_uint constant, std::span<const std::byte> value);

  /// The state of the latest build for one of devices().
  Build build_of(const Device& device) const;
  /// The binaries of devices() in their order, empty where there is none. Waits for the nodes that have not
  /// been asked since the latest build. Throws Error with what a node answers, or CL_OUT_OF_RESOURCES where
  /// it is lost.
  std::vector<Binary> binaries();

  /// Names of the kernels, as the first device's driver lists them. Throws
  /// Error(CL_INVALID_PROGRAM_EXECUTABLE) where nothing was built.
  std::vector<std::string> kernel_names() const;
  /// Throws Error: CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_DEFINITION.
  Ref<Kernel> create_kernel(const std::string& name);
  /// One kernel for each function that is the same on all devices. Throws
  /// Error(CL_INVALID_PROGRAM_EXECUTABLE).
  std::vector<Ref<Kernel>> create_kernels();
  /// A kernel object has come into being. While there are any the program cannot be built again.
  void attach() { ++attached_; }
  /// The application let a kernel object go.
  void detach() { --attached_; }

 private:
  using Built = Replies<protocol::ProgramBuilt>;
  /// Some devices of the program that one worker has.
  struct Share {
    Worker* worker = nullptr;
    std::vector<std::size_t> indices;  ///< in devices_
    std::vector<protocol::DeviceId> ids;
  };
  using Shares = std::vector<Share>;

  Program(Ref<Context> context, Origin origin, Devices devices);

  Shares shares(const Devices& devices) const;
  std::size_t index_of(const Device& device) const;
  /// The latest build for the device made a compiled binary or library.
  bool linkable(const Device& device) const;
  /// Makes the program on all workers and waits for their answers. Throws what the first one that refuses
  /// answers.
  /// @param code_of gives a share's code. @param statuses gets each device's own status, where it is not
  /// empty.
  template <typename CodeOf>
  void create(protocol::ProgramKind kind, CodeOf&& code_of, std::span<cl_int> statuses = {});
  /// The program on one worker.
  struct Native {
    Worker* worker = nullptr;
    protocol::ObjectId id = 0;
    bool outdated = false;  ///< was made before the latest specialization
  };
  /// Under mutex_.
  const Native* native_on(const Worker& worker) const;
  /// Makes the program anew with the latest specialization; builds for other devices of the worker are void.
  void replace(Native& native);
  /// Makes the program on the worker where it is missing, or is there without the latest specialization.
  /// @returns its id there.
  protocol::ObjectId ensure_on(Worker& worker);
  static void tell_statuses(const Share& share, const Built::Answer& answer, std::span<cl_int> statuses);
  /// Marks the devices as being built. Throws Error(CL_INVALID_OPERATION) where that must not begin.
  void begin(const Shares& shares, const std::string& options, const BuildTraits& traits);
  static BuildTraits linked_traits(const std::string& options, const std::vector<Ref<Program>>& inputs);
  /// Sends the requests. @returns the call's status: that of all where it waits.
  template <typename M>
  cl_int run(Shares shares, std::vector<std::pair<Worker*, M>> requests, Notify notify);
  /// All workers have answered. @returns the first failure.
  cl_int finish(const Shares& shares, Built::Answers& answers);
  /// What one worker answered, or why it did not. @returns the native call's status. Under mutex_, as all
  /// below.
  cl_int take(const Share& share, Built::Answer& answer);
  void add_functions(const Share& share, std::vector<protocol::KernelDescription>& described);
  void add_function(KernelFunction function);
  void forget_functions(const std::vector<std::size_t>& indices);
  bool executable() const;

  Ref<Context> context_;
  const Origin origin_;
  const Devices devices_;
  std::string source_;
  protocol::Bytes il_;

  mutable std::mutex mutex_;
  protocol::ObjectId id_ = next_id();
  std::vector<Native> natives_;
  protocol::Bytes specialized_il_;
  std::vector<Build> builds_;     ///< of devices_
  std::vector<Binary> binaries_;  ///< of devices_, as far as asked for
  BuildTraits traits_;
  std::vector<std::shared_ptr<const KernelFunction>> functions_;
  std::atomic<std::size_t> attached_{0};
};

}  // namespace clique::icd
