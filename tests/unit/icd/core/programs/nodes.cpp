// Programs and kernels over workers that the tests play themselves: what is sent, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/image.hpp"
#include "icd/core/objects/sampler.hpp"
#include "icd/core/objects/svm_allocation.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using protocol::KernelArg;

protocol::ArgDescription described_arg(const char* type, std::uint32_t address) {
  return {address, CL_KERNEL_ARG_ACCESS_NONE, type, 0, "name", 0};
}

/// A worker with one device, the client's objects for it, and what the worker was sent.
struct Node {
  Node(protocol::ZmqContext& zmq, unsigned index) {
    fake.on_create_buffer = [this](const auto& message) { buffers.push_back(message); };
    fake.on_create_program = [this](const auto& message) { programs.push_back(message); };
    fake.on_build = [this](const auto& message) { build(message); };
    fake.on_create_kernel = [this](const auto& message) { kernels.push_back(message); };
    fake.on_run = [this](const auto& message) { runs.push_back(message); };
    fake.on_release = [this](const auto& message) {
      released.insert(released.end(), message.objects.begin(), message.objects.end());
    };
    fake.run([] {});  // makes the functions that were set visible to its thread
    const auto open = [this, &zmq](const auto&, const auto&) {
      std::vector<std::unique_ptr<Link>> links;
      links.push_back(std::make_unique<Link>(zmq, fake.endpoint(), kPatience));
      return OpenedSession{std::move(links)};
    };
    node = std::make_unique<icd::Node>("node", std::vector<protocol::Driver>(1), open,
                                       [] { return std::set<std::uint32_t>{0}; });
    worker = std::make_unique<Worker>(*node, 0, index);
    device = Ref<Device>(new Device(*worker, 0, {}, nullptr, {}));
  }

  void build(const protocol::BuildProgram& message) {
    builds.push_back(message);
    if (!silent) fake.reply(answer(message));
  }
  protocol::ProgramBuilt answer(const protocol::BuildProgram& message) const {
    protocol::ProgramBuilt built{message.request, status.load(), {}, {}};
    const bool good = status == CL_SUCCESS;
    protocol::BuildResult result;
    result.device = 0;
    result.build_status = good ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    result.binary_type = good ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
    result.log = "log";
    built.devices.push_back(result);
    if (good)
      built.kernels.push_back({"k", "", static_cast<std::uint32_t>(args.size()), args, {{0, {}}}, "_Z1kv"});
    return built;
  }
  bool asked() {
    bool result = false;
    fake.run([&] { result = !builds.empty(); });
    return result;
  }
  /// Calls look() on the worker's thread once everything posted so far has arrived.
  template <typename F>
  void look(F&& look) {
    const auto finished = worker->link().request<protocol::Finished>(protocol::Finish{0, 1});
    EXPECT_EQ(CL_SUCCESS, finished.status);
    fake.run(look);
  }

  std::atomic<cl_int> status{CL_SUCCESS};
  std::atomic<bool> silent{false};
  /// The arguments of the program's kernel.
  std::vector<protocol::ArgDescription> args{described_arg("int", CL_KERNEL_ARG_ADDRESS_PRIVATE),
                                             described_arg("int", CL_KERNEL_ARG_ADDRESS_PRIVATE),
                                             described_arg("int*", CL_KERNEL_ARG_ADDRESS_LOCAL)};
  std::vector<protocol::CreateBuffer> buffers;
  std::vector<protocol::CreateProgram> programs;
  std::vector<protocol::BuildProgram> builds;
  std::vector<protocol::CreateKernel> kernels;
  std::vector<protocol::RunKernel> runs;
  std::vector<protocol::ObjectId> released;
  FakeWorker fake;  // its thread uses the members above
  std::unique_ptr<icd::Node> node;
  std::unique_ptr<Worker> worker;
  Ref<Device> device;
};

class ProgramOnNodes : public ::testing::Test {
 protected:
  ProgramOnNodes() {
    context = Ref<Context>(new Context({a.device, b.device}, {}, nullptr, nullptr));
    program = Program::from_source(context, "source");
  }
  cl_int build() { return program->build(context->devices(), "-options", {}); }
  Ref<Queue> queue(const Node& node) { return Ref<Queue>(new Queue(context, node.device, 0, {})); }
  static void set(Kernel& kernel, cl_uint index, cl_int value) {
    kernel.set_arg(index, sizeof value, &value);
  }
  static void launch(Kernel& kernel, Queue& queue) {
    kernel.launch(queue, {.dimensions = 1, .global = {8, 0, 0}}, {}, EventUse::None);
  }
  Ref<Kernel> ready_kernel() {
    Ref<Kernel> kernel = program->create_kernel("k");
    set(*kernel, 0, 10);
    set(*kernel, 1, 11);
    kernel->set_arg(2, 64, nullptr);
    return kernel;
  }
  static std::vector<std::uint32_t> indices(const protocol::RunKernel& run) {
    std::vector<std::uint32_t> indices;
    for (const KernelArg& arg : run.args) indices.push_back(arg.index);
    return indices;
  }
  template <typename Call>
  static cl_int status_of(Call&& call) {
    try {
      call();
      return CL_SUCCESS;
    } catch (const Error& error) {
      return error.status();
    }
  }

  using Indices = std::vector<std::uint32_t>;
  protocol::ZmqContext zmq{1};
  Node a{zmq, 0};
  Node b{zmq, 1};
  Ref<Context> context;
  Ref<Program> program;
};

TEST_F(ProgramOnNodes, SourceGoesToAWorkerOnceWithTheFirstBuild) {
  a.look([&] { EXPECT_TRUE(a.programs.empty()); });
  EXPECT_EQ(CL_SUCCESS, program->build({a.device}, "", {}));
  EXPECT_EQ(CL_SUCCESS, program->build({a.device}, "", {}));
  a.look([&] {
    ASSERT_EQ(1U, a.programs.size());
    EXPECT_EQ((protocol::Bytes{'s', 'o', 'u', 'r', 'c', 'e'}), a.programs[0].code[0]);
    EXPECT_EQ(2U, a.builds.size());
  });
  b.look([&] { EXPECT_TRUE(b.programs.empty() && b.builds.empty()); });
}

TEST_F(ProgramOnNodes, AllWorkersBuildAtTheSameTime) {
  a.silent = true;
  b.silent = true;
  // Neither worker answers before both have been asked.
  std::thread builders([&] {
    EXPECT_TRUE(eventually([&] { return a.asked() && b.asked(); }));
    for (Node* node : {&a, &b}) node->fake.run([&] { node->fake.reply(node->answer(node->builds.at(0))); });
  });
  EXPECT_EQ(CL_SUCCESS, build());
  builders.join();
  EXPECT_EQ("-options", program->build_of(*a.device).options);
  EXPECT_EQ(CL_BUILD_SUCCESS, program->build_of(*b.device).status);
}

TEST_F(ProgramOnNodes, TheFirstFailureIsTheCallsAndEachDeviceHasItsOwn) {
  b.status = CL_BUILD_PROGRAM_FAILURE;
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build());
  EXPECT_EQ(CL_BUILD_SUCCESS, program->build_of(*a.device).status);
  EXPECT_EQ(CL_BUILD_ERROR, program->build_of(*b.device).status);
  EXPECT_EQ("log", program->build_of(*b.device).log);
  const Ref<Kernel> kernel = ready_kernel();
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, status_of([&] { launch(*kernel, *queue(b)); }));
  EXPECT_EQ(CL_SUCCESS, status_of([&] { launch(*kernel, *queue(a)); }));
}

TEST_F(ProgramOnNodes, AWorkerLostInABuildIsAnErrorOfItsDevicesOnly) {
  b.silent = true;
  std::thread loss([&] {
    EXPECT_TRUE(eventually([&] { return b.asked(); }));
    b.fake.hang_up();
  });
  EXPECT_EQ(CL_OUT_OF_RESOURCES, build());
  loss.join();
  EXPECT_EQ(CL_BUILD_SUCCESS, program->build_of(*a.device).status);
  EXPECT_EQ(CL_BUILD_ERROR, program->build_of(*b.device).status);
  EXPECT_NE("", program->build_of(*b.device).log);
  EXPECT_EQ(CL_OUT_OF_RESOURCES, build()) << "a build for a worker that was lost before";
}

TEST_F(ProgramOnNodes, TheCallbackComesOnceWhenAllHaveAnswered) {
  b.silent = true;
  std::atomic<int> calls{0};
  const auto notify = [](cl_program, void* calls) { ++*static_cast<std::atomic<int>*>(calls); };
  EXPECT_EQ(CL_SUCCESS, program->build(context->devices(), "", {notify, &calls}));
  a.look([] {});
  EXPECT_EQ(0, calls);
  EXPECT_EQ(CL_BUILD_IN_PROGRESS, program->build_of(*b.device).status);
  EXPECT_EQ(CL_INVALID_OPERATION, status_of([&] { build(); })) << "a second build of the same program";
  b.look([&] { b.fake.reply(b.answer(b.builds.at(0))); });
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  EXPECT_EQ(CL_BUILD_SUCCESS, program->build_of(*b.device).status);
}

TEST_F(ProgramOnNodes, AKernelForbidsAnotherBuild) {
  ASSERT_EQ(CL_SUCCESS, build());
  Ref<Kernel> kernel = program->create_kernel("k");
  EXPECT_EQ(CL_INVALID_OPERATION, status_of([&] { build(); }));
  kernel = nullptr;
  EXPECT_EQ(CL_SUCCESS, build());
}

TEST_F(ProgramOnNodes, AKernelIsFoundByEitherName) {
  ASSERT_EQ(CL_SUCCESS, build());
  EXPECT_EQ("k", program->create_kernel("_Z1kv")->function().name);
  EXPECT_EQ(CL_INVALID_KERNEL_NAME, status_of([&] { program->create_kernel("_Z1ki"); }));
  EXPECT_EQ(CL_INVALID_KERNEL_NAME, status_of([&] { program->create_kernel(""); }));
}

TEST_F(ProgramOnNodes, EightBytesOfNoKindAreABufferWhereTheyAreTheHandleOfOne) {
  auto eight_bytes = described_arg("", 0);
  eight_bytes.size = 8;
  for (Node* node : {&a, &b}) node->look([&] { node->args = {eight_bytes}; });
  ASSERT_EQ(CL_SUCCESS, build());
  const Ref<Kernel> kernel = program->create_kernel("k");
  const Ref<Buffer> buffer(new Buffer(context, CL_MEM_READ_WRITE, 64, nullptr, {}));
  const cl_mem handle = buffer->give_out();
  const std::uint64_t number = 5;
  EXPECT_EQ(CL_INVALID_ARG_SIZE, status_of([&] { set(*kernel, 0, 5); }));
  const Ref<Queue> on_a = queue(a);
  for (const void* value : {static_cast<const void*>(&handle), static_cast<const void*>(&number),
                            static_cast<const void*>(nullptr)}) {
    kernel->set_arg(0, 8, value);
    launch(*kernel, *on_a);
  }
  a.look([&] {
    ASSERT_EQ(3U, a.runs.size());
    EXPECT_EQ(KernelArg::Object, a.runs[0].args.at(0).kind);
    EXPECT_EQ(buffer->id(), a.runs[0].args.at(0).number);
    EXPECT_EQ(KernelArg::Value, a.runs[1].args.at(0).kind);
    EXPECT_EQ((protocol::Bytes{5, 0, 0, 0, 0, 0, 0, 0}), a.runs[1].args.at(0).value);
    EXPECT_EQ(KernelArg::NullObject, a.runs[2].args.at(0).kind);
  });
  buffer->release();
}

TEST_F(ProgramOnNodes, LaunchesBringWhatChangedSinceTheLastOneOnThatWorker) {
  ASSERT_EQ(CL_SUCCESS, build());
  const Ref<Kernel> kernel = ready_kernel();
  const Ref<Queue> on_a = queue(a);
  const Ref<Queue> on_b = queue(b);
  launch(*kernel, *on_a);
  launch(*kernel, *on_a);
  set(*kernel, 1, 12);
  set(*kernel, 0, 10);  // the value that it had before
  launch(*kernel, *on_a);
  launch(*kernel, *on_b);
  set(*kernel, 0, 13);
  launch(*kernel, *on_b);
  kernel->set_arg(2, 32, nullptr);
  launch(*kernel, *on_a);
  a.look([&] {
    ASSERT_EQ(1U, a.kernels.size());
    EXPECT_EQ("k", a.kernels[0].name);
    ASSERT_EQ(4U, a.runs.size());
    EXPECT_EQ((Indices{0, 1, 2}), indices(a.runs[0]));
    EXPECT_EQ((Indices{}), indices(a.runs[1]));
    EXPECT_EQ((Indices{1}), indices(a.runs[2]));
    EXPECT_EQ((protocol::Bytes{12, 0, 0, 0}), a.runs[2].args[0].value);
    EXPECT_EQ((Indices{0, 2}), indices(a.runs[3]));
    EXPECT_EQ(32U, a.runs[3].args[1].number);
    EXPECT_EQ((std::vector<std::uint64_t>{8}), a.runs[3].global);
    EXPECT_TRUE(a.runs[3].offset.empty() && a.runs[3].local.empty());
  });
  b.look([&] {
    ASSERT_EQ(2U, b.runs.size());
    EXPECT_EQ((Indices{0, 1, 2}), indices(b.runs[0]));
    EXPECT_EQ((Indices{0}), indices(b.runs[1]));
  });
}

TEST_F(ProgramOnNodes, ACloneBringsAllArgumentsAsTheyWere) {
  ASSERT_EQ(CL_SUCCESS, build());
  const Ref<Kernel> kernel = ready_kernel();
  const Ref<Queue> on_a = queue(a);
  launch(*kernel, *on_a);
  const Ref<Kernel> clone = kernel->clone();
  set(*kernel, 0, 99);
  launch(*clone, *on_a);
  a.look([&] {
    ASSERT_EQ(2U, a.runs.size());
    EXPECT_NE(a.runs[0].kernel, a.runs[1].kernel);
    EXPECT_EQ((Indices{0, 1, 2}), indices(a.runs[1]));
    EXPECT_EQ((protocol::Bytes{10, 0, 0, 0}), a.runs[1].args[0].value);
  });
}

// This happens when the write releases the last event of the other queue.
TEST_F(ProgramOnNodes, AQueueMayGoWhileAWriteOnAnotherReturnsEarly) {
  const Ref<Queue> on_a = queue(a);
  Ref<Queue> on_b = queue(b);
  const auto alone = on_a->begin_early_write();
  ASSERT_TRUE(alone.owns_lock());
  on_b = nullptr;
  b.look([&] { EXPECT_EQ(1U, b.released.size()); });
}

TEST_F(ProgramOnNodes, ObjectsAreReleasedWhereTheyWere) {
  ASSERT_EQ(CL_SUCCESS, program->build({a.device}, "", {}));
  Ref<Kernel> kernel = ready_kernel();
  launch(*kernel, *queue(a));
  kernel = nullptr;
  program = nullptr;
  a.look([&] {
    const protocol::ObjectId ids[] = {a.kernels.at(0).id, a.programs.at(0).id};
    for (const protocol::ObjectId id : ids)
      EXPECT_EQ(1, std::count(a.released.begin(), a.released.end(), id));
  });
  b.look([&] { EXPECT_TRUE(b.programs.empty() && b.kernels.empty()); });
}

class KernelMemory : public ProgramOnNodes {
 protected:
  KernelMemory() {
    KernelFunction function =
        function_of({"k", "", 1, {described_arg("int*", CL_KERNEL_ARG_ADDRESS_GLOBAL)}, {}}, {});
    function.devices.push_back(on_device(a.device, {}, {}));
    kernel = Ref<Kernel>(new Kernel(program, std::make_shared<const KernelFunction>(function)));
    buffer = Ref<Memory>(new Buffer(context, CL_MEM_READ_WRITE, 64, nullptr, {}));
    const cl_mem handle = buffer->give_out();
    kernel->set_arg(0, sizeof handle, &handle);
  }
  // The thread that receives a's reports may be about to let go of a command and with it of the context,
  // whose end needs both workers. After this it has done so.
  void TearDown() override {
    a.look([] {});
  }
  void watch() {
    buffer->add_destructor([](cl_mem, void* gone) { ++*static_cast<std::atomic<int>*>(gone); }, &gone);
  }
  void let_go() {
    buffer->release();
    buffer = nullptr;
  }

  Ref<Kernel> kernel;
  Ref<Memory> buffer;
  std::atomic<int> gone{0};
};

TEST_F(KernelMemory, ThatTheApplicationLetGoCanStillBeUsed) {
  let_go();
  EXPECT_EQ(CL_SUCCESS, status_of([&] { launch(*kernel, *queue(a)); }));
}

TEST_F(KernelMemory, WhoseEndTheApplicationSeesIsNotKept) {
  watch();
  launch(*kernel, *queue(a));
  a.look([&] {
    ASSERT_EQ(1U, a.runs.size());
    for (const protocol::RunKernel& run : a.runs)
      a.fake.reply(protocol::EventState{run.command.id, CL_COMPLETE, {}});
  });
  let_go();
  EXPECT_TRUE(eventually([&] { return gone == 1; }));
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, status_of([&] { launch(*kernel, *queue(a)); }));
  const Ref<Memory> other(new Buffer(context, CL_MEM_READ_WRITE, 64, nullptr, {}));
  const cl_mem handle = other->give_out();
  kernel->set_arg(0, sizeof handle, &handle);
  EXPECT_EQ(CL_SUCCESS, status_of([&] { launch(*kernel, *queue(a)); }));
  other->release();
}

TEST_F(KernelMemory, WhoseEndTheApplicationSeesStaysForItsCommands) {
  watch();
  launch(*kernel, *queue(a));
  let_go();
  a.look([] {});
  EXPECT_EQ(0, gone);
  a.fake.run([&] { a.fake.reply(protocol::EventState{a.runs.at(0).command.id, CL_COMPLETE, {}}); });
  EXPECT_TRUE(eventually([&] { return gone == 1; }));
}

/// A kernel with a pointer, on a device with shared virtual memory and on one without.
class KernelPointers : public ProgramOnNodes {
 protected:
  KernelPointers() {
    const cl_device_svm_capabilities native =
        CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    protocol::Bytes capabilities(sizeof native);
    std::memcpy(capabilities.data(), &native, sizeof native);
    with = Ref<Device>(
        new Device(*a.worker, 0, {{{CL_DEVICE_SVM_CAPABILITIES, capabilities}}, {}}, nullptr, {}));
    context = Ref<Context>(new Context({with, b.device}, {}, nullptr, nullptr));
    program = Program::from_source(context, "source");
    KernelFunction function =
        function_of({"k", "", 1, {described_arg("int*", CL_KERNEL_ARG_ADDRESS_GLOBAL)}, {}}, {});
    function.devices.push_back(on_device(with, {}, {}));
    function.devices.push_back(on_device(b.device, {}, {}));
    kernel = Ref<Kernel>(new Kernel(program, std::make_shared<const KernelFunction>(function)));
    on_a = Ref<Queue>(new Queue(context, with, 0, {}));
    on_b = queue(b);
  }
  std::pair<Ref<Memory>, std::byte*> allocate() {
    Ref<Memory> allocation(new SvmAllocation(context, CL_MEM_READ_WRITE, 64, 1));
    auto* memory = static_cast<std::byte*>(context->svm().add(*allocation));
    return {std::move(allocation), memory};
  }

  Ref<Device> with;
  Ref<Kernel> kernel;
  Ref<Queue> on_a;
  Ref<Queue> on_b;
};

TEST_F(KernelPointers, NameTheirAllocationAndHowFarIntoItTheyPoint) {
  const auto [allocation, memory] = allocate();
  const auto [reached, other] = allocate();
  kernel->set_arg_svm(0, memory + 12);
  kernel->set_reached(Kernel::ReachedBy::SvmPointers, {&reached, 1});
  launch(*kernel, *on_a);
  a.look([&, memory = memory, id = allocation->id(), reached = reached->id()] {
    ASSERT_EQ(2U, a.buffers.size());
    EXPECT_EQ(id, a.buffers[0].id);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory), a.buffers[0].address);
    ASSERT_EQ(1U, a.runs.size());
    EXPECT_EQ(KernelArg::Pointer, a.runs[0].args.at(0).kind);
    EXPECT_EQ(id, a.runs[0].args.at(0).number);
    EXPECT_EQ((protocol::Bytes{12, 0, 0, 0, 0, 0, 0, 0}), a.runs[0].args.at(0).value);
    EXPECT_EQ(std::vector<protocol::ObjectId>{reached}, a.runs[0].reached);
  });
  context->svm().release(other);
  context->svm().release(memory);
}

TEST_F(KernelPointers, MeanNothingOnADeviceWithoutSharedVirtualMemory) {
  const auto [allocation, memory] = allocate();
  EXPECT_EQ(cl_device_svm_capabilities{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER},
            with->value<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES));
  kernel->set_arg_svm(0, memory);
  EXPECT_EQ(CL_INVALID_OPERATION, status_of([&] { launch(*kernel, *on_b); }));
  kernel->set_arg_svm(0, nullptr);
  EXPECT_EQ(CL_SUCCESS, status_of([&] { launch(*kernel, *on_b); }));
  kernel->set_reached(Kernel::ReachedBy::SvmPointers, {&allocation, 1});
  EXPECT_EQ(CL_INVALID_OPERATION, status_of([&] { launch(*kernel, *on_b); }));
  context->svm().release(memory);
}

TEST_F(KernelPointers, AreNoneToAWorkerThatHasTheAllocationAsABuffer) {
  const auto [allocation, memory] = allocate();
  const Ref<Memory> view(
      new Buffer(context, CL_MEM_USE_HOST_PTR, 64, memory, {}, context->svm().find(memory)));
  const cl_mem handle = view->give_out();
  kernel->set_arg(0, sizeof handle, &handle);
  EXPECT_EQ(CL_SUCCESS, status_of([&] { launch(*kernel, *on_b); }));
  b.look([&, id = allocation->id()] {
    ASSERT_EQ(1U, b.buffers.size());
    EXPECT_EQ(id, b.buffers[0].id);
    EXPECT_EQ(0U, b.buffers[0].address);
  });
  view->release();
  context->svm().release(memory);
}

}  // namespace
}  // namespace clique::icd::test
