// A node that sends what no node sends: calls fail in bounded time, and nothing is written anywhere but where
// the application wants it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "icd/core/commands/host_transfers.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/aggregate.hpp"
#include "protocol/messages.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

using protocol::PeerData;

class LyingNode : public ::testing::Test {
 protected:
  /// Bytes that the application reads, between bytes that are its own.
  static constexpr std::size_t kRead = 1024;
  static constexpr std::size_t kFrame = 64;

  void open() {
    fake_.run([] {});  // so that its thread sees the functions that were set
    const auto open = [this](const auto&, const auto&) {
      std::vector<std::unique_ptr<Link>> links;
      WorkerEndpoint endpoint = fake_.endpoint();
      endpoint.build_timeout = build_timeout_;
      links.push_back(std::make_unique<Link>(zmq_, std::move(endpoint), kPatience));
      return OpenedSession{std::move(links)};
    };
    node_ = std::make_unique<icd::Node>("node", std::vector<protocol::Driver>(1), open,
                                        [] { return std::set<std::uint32_t>{0}; });
    worker_ = std::make_unique<Worker>(*node_, 0, 0);
    device_ = Ref<Device>(new Device(*worker_, 0, {}, nullptr, {}));
    context_ = Ref<Context>(new Context({device_}, {}, nullptr, nullptr));
  }
  std::span<std::byte> place() { return std::span(memory_).subspan(kFrame, kRead); }
  /// The event of a large read into place().
  Ref<Event> read() {
    Ref<Event> event(new Event(context_, *worker_, CL_COMMAND_READ_BUFFER));
    worker_->expect_event(event);
    worker_->pending().expect_bulk(event->id(), {.fills = place()});
    return event;
  }
  /// A part that is nothing but ones.
  static PeerData part(protocol::CommandId transfer, std::uint64_t offset, std::size_t size) {
    static const std::vector<std::byte> ones(std::size_t{1} << 20U, std::byte{1});
    return {transfer, offset, 0, {std::span(ones).first(size), nullptr}};
  }
  void expect_frame_untouched() const {
    const auto zero = [](std::byte byte) { return byte == std::byte{0}; };
    EXPECT_TRUE(std::all_of(memory_.begin(), memory_.begin() + kFrame, zero));
    EXPECT_TRUE(std::all_of(memory_.end() - kFrame, memory_.end(), zero));
  }
  void expect_lost(const std::string& reason) const {
    EXPECT_TRUE(worker_->lost());
    EXPECT_NE(worker_->link().loss().find(reason), std::string::npos) << worker_->link().loss();
  }

  protocol::ZmqContext zmq_{1};
  FakeWorker fake_;
  std::chrono::seconds build_timeout_{0};
  std::array<std::byte, kRead + 2 * kFrame> memory_{};
  std::unique_ptr<icd::Node> node_;
  std::unique_ptr<Worker> worker_;
  Ref<Device> device_;
  Ref<Context> context_;
};

TEST_F(LyingNode, GivenPartsInAnyOrderThenTheReadEnds) {
  open();
  const Ref<Event> event = read();
  fake_.run([&] {
    for (const std::uint64_t offset : {512, 0, 768, 256}) fake_.reply(part(event->id(), offset, 256));
    fake_.reply(protocol::EventState{event->id(), CL_COMPLETE, {}});
  });
  event->wait();
  EXPECT_EQ(event->status(), CL_COMPLETE);
  EXPECT_EQ(std::count(memory_.begin(), memory_.end(), std::byte{1}), kRead);
  expect_frame_untouched();
  EXPECT_FALSE(worker_->lost());
}

TEST_F(LyingNode, GivenAnEndBeforeTheWholeThenTheReadEnds) {
  open();
  const Ref<Event> event = read();
  fake_.run([&] {
    fake_.reply(protocol::EventState{event->id(), CL_COMPLETE, {}});
    fake_.reply(part(event->id(), 256, 0));
    fake_.reply(part(event->id(), 0, 256));
  });
  event->wait();
  EXPECT_EQ(event->status(), CL_COMPLETE);
  EXPECT_EQ(std::count(memory_.begin(), memory_.end(), std::byte{1}), 256);
}

TEST_F(LyingNode, GivenATransferThatFailsAtOnceThenTheCommandThatItIsAPartOfFailsAsItDoes) {
  open();
  const Ref<Queue> queue(new Queue(context_, device_, {}, {}));
  const Ref<Event> transfer = read();
  fake_.run([&] { fake_.reply(protocol::EventState{transfer->id(), CL_OUT_OF_RESOURCES, {}}); });
  transfer->wait();
  Submission submission{.command = {CL_COMMAND_READ_BUFFER, {&transfer, 1}}, .event = EventUse::Report};
  EXPECT_EQ(queue->prepare(submission).event->status(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  submission.parts = submission.command.waits;
  EXPECT_EQ(queue->prepare(submission).event->status(), CL_OUT_OF_RESOURCES);
}

/// A queue in which a launch without an event fails before the first read.
class SilentFailure : public LyingNode {
 protected:
  Ref<Queue> open_queue(cl_command_queue_properties properties) {
    fake_.on_read = [this](const protocol::ReadBuffer& read) {
      static const std::vector<std::byte> ones(kRead, std::byte{1});
      if (std::exchange(fails_, false))
        fake_.reply(
            protocol::Failed{read.command.queue, CL_OUT_OF_RESOURCES, "why", failed_(read.command.id)});
      fake_.reply(protocol::Data{read.command.id, read.part, {std::span(ones), nullptr}});
      fake_.reply(protocol::EventState{read.command.id, CL_COMPLETE, {}});
    };
    fake_.on_finish = [this](const protocol::Finish& finish) {
      fake_.reply(protocol::Finished{finish.request, std::exchange(finished_, 0)});
    };
    open();
    buffer_ = Ref<Memory>(new Buffer(context_, CL_MEM_READ_WRITE, 4 * kRead, nullptr, {}));
    Ref<Queue> queue(new Queue(context_, device_, properties, {}));
    queue->give_out();
    queue_ = queue;
    return queue;
  }
  cl_int read_with(Queue& queue) {
    const Ref<Event> event = read_buffer(queue, *buffer_, 0, place(), {CL_COMMAND_READ_BUFFER, {}}, nullptr);
    event->wait();
    return event->status();
  }
  static cl_int finish(Queue& queue) {
    try {
      queue.finish();
      return CL_SUCCESS;
    } catch (const Error& error) {
      return error.status();
    }
  }
  void TearDown() override {
    queue_->release();
    queue_ = nullptr;
    buffer_ = nullptr;
  }

  /// Tells which command has failed, from the id of the first read.
  std::function<protocol::CommandId(protocol::CommandId)> failed_ = [](protocol::CommandId read) {
    return read - 1;
  };
  bool fails_ = true;
  std::int32_t finished_ = CL_OUT_OF_RESOURCES;
  Ref<Memory> buffer_;
  Ref<Queue> queue_;
};

TEST_F(SilentFailure, IsThatOfTheNextReadAndTheApplicationIsToldOnce) {
  const Ref<Queue> queue = open_queue(0);
  EXPECT_EQ(read_with(*queue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(read_with(*queue), CL_COMPLETE);
  EXPECT_EQ(finish(*queue), CL_SUCCESS) << "the read has told";
  fake_.run([this] { finished_ = CL_OUT_OF_RESOURCES; });
  EXPECT_EQ(finish(*queue), CL_OUT_OF_RESOURCES) << "another one has failed since";
  EXPECT_EQ(finish(*queue), CL_SUCCESS);
}

TEST_F(SilentFailure, IsNotThatOfReadsInQueuesWithoutOrder) {
  const Ref<Queue> queue = open_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  EXPECT_EQ(read_with(*queue), CL_COMPLETE);
  EXPECT_EQ(finish(*queue), CL_OUT_OF_RESOURCES);
}

TEST_F(SilentFailure, IsNotThatOfReadsBeforeTheCommand) {
  failed_ = [](protocol::CommandId read) { return read + 1; };
  const Ref<Queue> queue = open_queue(0);
  EXPECT_EQ(read_with(*queue), CL_COMPLETE);
  next_id();
  EXPECT_EQ(read_with(*queue), CL_OUT_OF_RESOURCES);
}

TEST_F(SilentFailure, ThatAnEventTellsIsNotThatOfReads) {
  failed_ = [](protocol::CommandId) { return 0; };
  finished_ = 0;
  const Ref<Queue> queue = open_queue(0);
  EXPECT_EQ(read_with(*queue), CL_COMPLETE);
  EXPECT_EQ(finish(*queue), CL_SUCCESS);
}

TEST_F(LyingNode, GivenPartsOfAReadThatHasFailedThenTheyAreDropped) {
  open();
  const Ref<Event> failed = read();
  const Ref<Event> next = read();
  fake_.run([&] {
    fake_.reply(part(failed->id(), 0, 256));
    fake_.reply(protocol::EventState{failed->id(), CL_OUT_OF_RESOURCES, {}});
    fake_.reply(part(failed->id(), 256, 256));
    fake_.reply(part(next->id(), 0, kRead));
    fake_.reply(protocol::EventState{next->id(), CL_COMPLETE, {}});
  });
  next->wait();
  EXPECT_EQ(next->status(), CL_COMPLETE);
  EXPECT_EQ(failed->status(), CL_OUT_OF_RESOURCES);
  EXPECT_FALSE(worker_->lost());
}

/// Parts of a read that no node sends.
struct Lie {
  const char* name;
  std::function<std::vector<PeerData>(protocol::CommandId)> parts;
};

class ImpossibleParts : public LyingNode, public ::testing::WithParamInterface<Lie> {
 public:
  static std::vector<Lie> lies() {
    return {
        {"BeginBeyondTheEnd", [](auto id) { return std::vector{part(id, kRead, 1)}; }},
        {"EndBeyondTheEnd", [](auto id) { return std::vector{part(id, kRead - 8, 9)}; }},
        {"HaveAnEndThatOverflows", [](auto id) { return std::vector{part(id, ~0ULL, 16)}; }},
        {"AreLargerThanTheWhole", [](auto id) { return std::vector{part(id, 0, kRead + 1)}; }},
        {"ComeTwice", [](auto id) { return std::vector{part(id, 0, 256), part(id, 0, 256)}; }},
        {"OverlapTheOneBefore", [](auto id) { return std::vector{part(id, 0, 256), part(id, 255, 256)}; }},
        {"OverlapTheOneAfter", [](auto id) { return std::vector{part(id, 256, 256), part(id, 255, 2)}; }},
        {"HaveNoData", [](auto id) { return std::vector{part(id, 0, 0)}; }},
        {"EndBeforeWhatHasCome", [](auto id) { return std::vector{part(id, 0, 256), part(id, 128, 0)}; }},
        {"EndWhereTheWholeDoes", [](auto id) { return std::vector{part(id, kRead, 0)}; }},
        {"AreOfAnotherTransfer", [](auto id) { return std::vector{part(id + 1000, 0, 256)}; }},
        {"HaveAStatusThatIsNoError",
         [](auto id) { return std::vector{PeerData{id, 0, 1, part(id, 0, 256).data}}; }},
    };
  }
};

TEST_P(ImpossibleParts, EndTheSession) {
  open();
  const Ref<Event> event = read();
  fake_.run([&] {
    for (const PeerData& one : GetParam().parts(event->id())) fake_.reply(one);
    // If the client accepted these parts, the application would wait indefinitely.
    fake_.reply(protocol::EventState{event->id(), CL_COMPLETE, {}});
  });
  event->wait();
  EXPECT_EQ(event->status(), CL_DEVICE_NOT_AVAILABLE);
  expect_lost("which does not expect this part");
  expect_frame_untouched();
}

INSTANTIATE_TEST_SUITE_P(LyingNode, ImpossibleParts, ::testing::ValuesIn(ImpossibleParts::lies()),
                         [](const auto& info) { return info.param.name; });

/// Data for a read of 1 KiB, which has one part.
class ImpossibleData : public LyingNode, public ::testing::WithParamInterface<protocol::Data> {};

TEST_P(ImpossibleData, EndsTheSession) {
  fake_.on_read = [this](const protocol::ReadBuffer& read) {
    static const std::vector<std::byte> ones(2 * kRead, std::byte{1});
    protocol::Data data = GetParam();
    data.command = read.command.id;
    data.data.bytes = std::span(ones).first(kRead + 1);
    fake_.reply(data);
    fake_.reply(protocol::EventState{read.command.id, CL_COMPLETE, {}});
  };
  open();
  const Ref<Queue> queue(new Queue(context_, device_, 0, {}));
  const Ref<Memory> buffer(new Buffer(context_, CL_MEM_READ_WRITE, 4 * kRead, nullptr, {}));
  const Ref<Event> event = read_buffer(*queue, *buffer, 0, place(), {CL_COMMAND_READ_BUFFER, {}}, nullptr);
  event->wait();
  EXPECT_EQ(event->status(), CL_DEVICE_NOT_AVAILABLE);
  expect_lost("which the read does not have");
  expect_frame_untouched();
}

INSTANTIATE_TEST_SUITE_P(LyingNode, ImpossibleData,
                         ::testing::Values(protocol::Data{0, 0, {}}, protocol::Data{0, 1, {}},
                                           protocol::Data{0, ~0U, {}}));

TEST_F(LyingNode, GivenAKernelWithAnyNumberOfArgumentsThenTheBuildFails) {
  fake_.on_build = [this](const protocol::BuildProgram& message) {
    protocol::ProgramBuilt built{message.request, CL_SUCCESS, {}, {}};
    built.kernels.push_back({"k", "", ~0U, {}, {{0, {}}}, "k"});
    fake_.reply(built);
  };
  open();
  const Ref<Program> program = Program::from_source(context_, "source");
  EXPECT_EQ(program->build(context_->devices(), "", {}), CL_OUT_OF_RESOURCES);
  expect_lost("4294967295 arguments");
}

TEST_F(LyingNode, GivenKernelsWithTooManyArgumentsTogetherThenTheBuildFails) {
  fake_.on_build = [this](const protocol::BuildProgram& message) {
    protocol::ProgramBuilt built{message.request, CL_SUCCESS, {}, {}};
    for (const char* name : {"a", "b", "c"})
      built.kernels.push_back({name, "", 400'000, {}, {{0, {}}}, name});
    fake_.reply(built);
  };
  open();
  const Ref<Program> program = Program::from_source(context_, "source");
  EXPECT_EQ(program->build(context_->devices(), "", {}), CL_OUT_OF_RESOURCES);
  expect_lost("kernel c with 400000 arguments");
}

TEST_F(LyingNode, GivenABuildWithoutAnAnswerThenItFailsAndTheSessionGoesOn) {
  build_timeout_ = std::chrono::seconds(1);
  std::vector<protocol::RequestId> requests;
  fake_.on_build = [&](const protocol::BuildProgram& message) { requests.push_back(message.request); };
  open();
  const Ref<Program> program = Program::from_source(context_, "source");
  EXPECT_EQ(program->build(context_->devices(), "", {}), CL_OUT_OF_RESOURCES);
  const Program::Build build = program->build_of(*device_);
  EXPECT_EQ(build.status, CL_BUILD_ERROR);
  EXPECT_NE(build.log.find("node node: it has not finished building a program within 1 s"), std::string::npos)
      << build.log;
  EXPECT_NE(build.log.find("CLIQUE_BUILD_TIMEOUT_S"), std::string::npos);

  // Nobody waits for this one.
  std::atomic<bool> called{false};
  const auto call = [](cl_program, void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; };
  EXPECT_EQ(program->build(context_->devices(), "", {call, &called}), CL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return called.load(); }, std::chrono::minutes(5)));
  EXPECT_EQ(program->build_of(*device_).status, CL_BUILD_ERROR);

  // Answers that come too late, and those to later builds.
  fake_.run([&] {
    for (const protocol::RequestId request : requests)
      fake_.reply(protocol::ProgramBuilt{request, CL_SUCCESS, {}, {}});
    fake_.on_build = [&](const protocol::BuildProgram& message) {
      fake_.reply(protocol::ProgramBuilt{message.request, CL_SUCCESS, {}, {}});
    };
  });
  EXPECT_EQ(program->build(context_->devices(), "", {}), CL_SUCCESS);
  EXPECT_FALSE(worker_->lost());
  // No reply comes twice.
  fake_.run([&] { fake_.reply(protocol::ProgramBuilt{requests.front(), CL_SUCCESS, {}, {}}); });
  EXPECT_TRUE(eventually([&] { return worker_->lost(); }, std::chrono::minutes(5)));
  expect_lost("which is not outstanding");
}

TEST_F(LyingNode, GivenTimesAndAClockOfAnySizeThenTheEventEnds) {
  fake_.on_clock = [this](const protocol::SyncClock& message) {
    fake_.reply(protocol::ClockSynced{message.request, INT64_MIN});
  };
  open();
  const Ref<Event> event = read();
  fake_.run([&] {
    fake_.reply(part(event->id(), 0, kRead));
    fake_.reply(protocol::EventState{event->id(), CL_COMPLETE, {~0ULL, 1, 1ULL << 63U, ~0ULL}});
  });
  event->wait();
  EXPECT_EQ(event->status(), CL_COMPLETE);
}

TEST_F(LyingNode, GivenTextsWithoutAnEndThenTheyHaveOne) {
  open();
  protocol::DeviceDescription description;
  description.properties.push_back({CL_DEVICE_NAME, {'G', 'P', 'U'}});
  cl_name_version endless{};
  std::fill(std::begin(endless.name), std::end(endless.name), 'x');
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&endless);
  for (const cl_device_info name : {CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_OPENCL_C_FEATURES})
    description.properties.push_back({name, {bytes, bytes + sizeof endless}});
  const Ref<Device> device(new Device(*worker_, 1, description, nullptr, {}));
  const auto text = device->property(CL_DEVICE_NAME);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 4U);
  EXPECT_EQ(text->back(), std::byte{0});
  const auto features = device->list<cl_name_version>(CL_DEVICE_OPENCL_C_FEATURES);
  ASSERT_EQ(features.size(), 1U);
  EXPECT_EQ(features[0].name[sizeof features[0].name - 1], '\0');
}

/// Fills messages with any values: small ones, which are ids of something, and the largest.
class AnyValue {
 public:
  explicit AnyValue(unsigned seed) : random_(seed) {}

  void operator()(bool& value) { value = random_() % 2 == 0; }
  template <std::integral T>
  void operator()(T& value) {
    const unsigned kind = random_() % 4;
    value = kind == 0   ? std::numeric_limits<T>::max()
            : kind == 1 ? std::numeric_limits<T>::min()
            : kind == 2 ? static_cast<T>(random_() % 64)
                        : static_cast<T>((std::uint64_t{random_()} << 32U) | random_());
  }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(T& value) {
    std::underlying_type_t<T> number{};
    (*this)(number);
    value = static_cast<T>(number);
  }
  void operator()(std::string& value) { value.assign(random_() % 80, static_cast<char>(random_())); }
  void operator()(protocol::Bytes& value) {
    value.assign(random_() % 80, static_cast<std::uint8_t>(random_()));
  }
  void operator()(protocol::Payload& value) {
    static const std::vector<std::byte> bytes(8192);
    value.bytes = std::span(bytes).first(random_() % bytes.size());
  }
  template <typename T>
  void operator()(std::vector<T>& value) {
    value.resize(random_() % 4);
    for (T& element : value) (*this)(element);
  }
  template <typename T, std::size_t N>
  void operator()(std::array<T, N>& value) {
    for (T& element : value) (*this)(element);
  }
  template <protocol::Fielded T>
  void operator()(T& value) {
    std::apply([this](auto&... field) { ((*this)(field), ...); }, value.fields());
  }

 private:
  std::mt19937 random_;
};

class AnyMessages : public LyingNode, public ::testing::WithParamInterface<unsigned> {
 protected:
  template <typename... M>
  void send_some(protocol::MessageList<M...> /*list*/, AnyValue& any, unsigned which) {
    unsigned position = 0;
    ((position++ == which % sizeof...(M) ? send<M>(any) : void()), ...);
  }

 private:
  template <typename M>
  void send(AnyValue& any) {
    M message;
    any(message);
    fake_.run([&] { fake_.reply(message); });
  }
};

TEST_P(AnyMessages, DoNoHarm) {
  open();
  const Ref<Event> event = read();
  AnyValue any(GetParam());
  testing::internal::CaptureStdout();
  for (int i = 0; i < 50 && !worker_->lost(); ++i) send_some(protocol::WorkerMessages{}, any, GetParam());
  fake_.hang_up();
  event->wait();
  testing::internal::GetCapturedStdout();
  expect_frame_untouched();
}

INSTANTIATE_TEST_SUITE_P(LyingNode, AnyMessages, ::testing::Range(0U, 45U));

}  // namespace
}  // namespace clique::icd::test
