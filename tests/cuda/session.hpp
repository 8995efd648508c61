// A client of a node whose GPUs are those of the fake driver.
#pragma once

#include <CL/cl.h>

#include "daemon/compiler/contract/program_binary.hpp"
#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {

inline daemon::compiler::Arg argument(daemon::compiler::ArgKind kind, std::uint32_t offset,
                                      std::uint32_t size) {
  daemon::compiler::Arg result;
  result.kind = kind;
  result.offset = offset;
  result.size = size;
  result.description.address =
      kind == daemon::compiler::ArgKind::Value ? CL_KERNEL_ARG_ADDRESS_PRIVATE : CL_KERNEL_ARG_ADDRESS_GLOBAL;
  result.description.access = CL_KERNEL_ARG_ACCESS_NONE;
  return result;
}

/// What a FakeGpuClient creates beyond the objects of ids.hpp.
inline constexpr ObjectId kIncrement = 10;  ///< kernels of fake_program()
inline constexpr ObjectId kWait = 11;
inline constexpr ObjectId kFault = 12;

/// A further program, which a test creates, and a kernel of it.
inline constexpr ObjectId kOwnProgram = 50;
inline constexpr ObjectId kOwnKernel = 60;

/// The kernels that fake_driver/kernels.cpp knows: increment(global int*), wait(int milliseconds) and
/// fault().
inline daemon::compiler::ProgramBinary fake_program() {
  using daemon::compiler::ArgKind;
  using daemon::compiler::Kernel;
  daemon::compiler::ProgramBinary binary;
  binary.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  binary.architecture = "sm_90";
  Kernel increment;
  increment.name = "increment";
  increment.args = {argument(ArgKind::Global, 0, 8)};
  increment.params_size = 8;
  Kernel wait;
  wait.name = "wait";
  wait.args = {argument(ArgKind::Value, 0, 4)};
  wait.params_size = 4;
  Kernel fault;
  fault.name = "fault";
  binary.kernels = {increment, wait, fault};
  binary.code = code(
      ".target sm_90\n.entry increment(.param .u64 numbers)\n.entry wait(.param .u32 milliseconds)\n.entry "
      "fault()\n");
  return binary;
}

/// A client of the node's first GPU, with fake_program() built and its objects created.
class FakeGpuClient : public Client {
 public:
  explicit FakeGpuClient(const Node& node, const std::string& name = "a test")
      : FakeGpuClient(hello(node.endpoint(), name).workers.at(0)) {}
  explicit FakeGpuClient(const WorkerAddress& worker, std::shared_ptr<SharedMemory> shared = nullptr)
      : Client(worker, std::move(shared)) {
    send(CreateContext{kContext, {0}}, CreateQueue{kInOrder, kContext, 0, CL_QUEUE_PROFILING_ENABLE},
         CreateQueue{kOutOfOrder, kContext, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE});
    send(CreateProgram{kRequest,
                       kProgram,
                       kContext,
                       ProgramKind::Binary,
                       {0},
                       {daemon::compiler::serialize(fake_program())}});
    created = next<ProgramBuilt>();
    send(BuildProgram{kRequest, kProgram, {0}, ""});
    built = next<ProgramBuilt>();
    send(CreateKernel{kIncrement, kProgram, "increment"}, CreateKernel{kWait, kProgram, "wait"},
         CreateKernel{kFault, kProgram, "fault"});
  }

  /// Reads the first number of the buffer on the in-order queue.
  int first(ObjectId buffer, std::vector<CommandId> waits = {}) {
    const CommandId id = ++last_id_;
    send(ReadBuffer{command(id, Command::kReport, std::move(waits)), 0, buffer, 0, sizeof(int)});
    const auto bytes = data(id);
    ended(id);
    int value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  /// Creates a buffer of `count` numbers, all 0.
  void make_zeros(ObjectId buffer, std::uint64_t count = 1) {
    send(CreateBuffer{buffer, kContext, kReadWrite, count * sizeof(int)},
         FillBuffer{command(++last_id_, 0), buffer, Bytes(4), 0, count * sizeof(int)});
    finish();
  }

  ProgramBuilt created;
  ProgramBuilt built;

 private:
  CommandId last_id_ = 1U << 20U;
};

/// A node that only offers the GPUs of the fake driver.
class FakeNode : public Node {
 public:
  FakeNode() : Node({"--devices", "fake"}) {}
  /// @param kernel_timeout limit on the time of a kernel, in seconds
  explicit FakeNode(int kernel_timeout)
      : Node({"--devices", "fake", "--kernel-timeout", std::to_string(kernel_timeout)}) {}
};

}  // namespace clique::test
