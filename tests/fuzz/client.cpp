// The client, whose worker sends whatever it likes: replies to requests, reports about commands, data of
// reads. Nothing may be written but into the memory that the application reads into, and every command ends.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/programs/kernel_function.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/answers.hpp"
#include "icd/remote/link/inbox.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/link/link_control.hpp"
#include "icd/remote/link/report_dispatch.hpp"
#include "icd/remote/link/reports.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "icd/remote/transfers/bulk_lines.hpp"
#include "icd/remote/transfers/guest_segments.hpp"
#include "icd/remote/transfers/uploads.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/transport/guest_memory.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/zmq_context.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/incoming.hpp"
#include "tests/unit/icd/remote/fakes.hpp"

namespace clique::fuzz::target_client {
namespace {

using namespace clique::icd;

constexpr std::size_t kMostBatches = 32;
/// Bytes that the application reads, between bytes that are its own.
constexpr std::size_t kRead = 256;
constexpr std::size_t kFrame = 64;
constexpr std::byte kUntouched{0xA5};
/// Segments that the client has placed, with the numbers from 0.
constexpr std::size_t kSegments = 2;
constexpr std::size_t kPage = 4096;

/// The pending commands, which inputs name by these numbers.
enum Number : std::uint8_t { kMarker, kReadInParts, kLargeRead, kGather, kLargeWrite, kTimedRead, kNumbers };

/// What lives as long as the process: a context, and a link to a worker that answers nothing but the first
/// questions. What inputs say is given to other parts of a session, which end with the input.
class Application {
 public:
  static Application& get() {
    // Lives until the process ends, as the library's own objects do.
    static auto* const one = new Application;
    return *one;
  }
  Link& link() const { return worker_.link(); }
  Worker& worker() { return worker_; }
  const Ref<Context>& context() const { return context_; }
  const Ref<Device>& device() const { return device_; }
  const WorkerEndpoint& endpoint() const { return endpoint_; }
  protocol::ZmqContext& zmq() { return zmq_; }

 private:
  Application()
      : endpoint_(fake_.endpoint()),
        node_(
            "node", std::vector<protocol::Driver>(1),
            [this](const auto&, const auto&) { return OpenedSession{open()}; },
            [] { return std::set<std::uint32_t>{0}; }),
        worker_(node_, 0, 0),
        device_(new Device(worker_, 0, {}, nullptr, {})),
        context_(new Context({device_}, {}, nullptr, nullptr)) {}

  std::vector<std::unique_ptr<Link>> open() {
    std::vector<std::unique_ptr<Link>> links;
    links.push_back(std::make_unique<Link>(zmq_, endpoint_, std::chrono::seconds(30)));
    return links;
  }

  protocol::ZmqContext zmq_{1};
  test::FakeWorker fake_;
  WorkerEndpoint endpoint_;
  icd::Node node_;
  Worker worker_;
  Ref<Device> device_;
  Ref<Context> context_;
};

class NoControl : public LinkControl {
 public:
  void stir() override {}
  void give_up(const std::string& /*reason*/) override {}
  std::chrono::milliseconds idle() override { return {}; }
};
class NoHandler : public Inbox::Handler {
 public:
  void handle(WorkerMessage&& /*message*/) override {}
  void ended(const std::string& /*reason*/) override {}
};
class NoWay : public Uploads::Way {
 public:
  void send(protocol::PeerData&& part) override {
    require(part.data.bytes.size() <= protocol::kPartSize, "parts can be sent");
  }
};

/// What the client makes of a device's description.
void use(protocol::DeviceDescription&& description) {
  const Ref<Device> device(
      new Device(Application::get().worker(), 1, std::move(description), Application::get().device(), {}));
  for (const cl_device_info name : {CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DEVICE_EXTENSIONS})
    require(device->text(name).find('\0') == std::string::npos, "texts end at their zero");
  for (const auto& entry : device->list<cl_name_version>(CL_DEVICE_EXTENSIONS_WITH_VERSION))
    require(entry.name[sizeof entry.name - 1] == '\0', "names have an end");
  device->image_formats(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D);
  on_device(device, {}, {});
}

void use(protocol::ProgramBuilt&& reply) {
  const BuildTraits traits{true, true, false};
  for (protocol::KernelDescription& kernel : reply.kernels) {
    const KernelFunction function = function_of(kernel, traits);
    require(same_definition(function, function), "a function has its own definition");
    for (protocol::KernelOnDevice& on : kernel.devices)
      on_device(Application::get().device(), std::move(on.work_group), traits);
  }
}
void use(protocol::SubDevicesCreated&& reply) {
  for (protocol::DeviceDescription& description : reply.devices) use(std::move(description));
}
template <typename M>
void use(M&& /*reply*/) {}

/// The part of a virtual machine's memory that the session has for segments: all of it is in use at first.
std::shared_ptr<GuestSegments> open_segments() {
  static const MemoryFile file(std::vector<std::byte>(protocol::kGuestMemoryHead + kSegments * kPage));
  auto segments = GuestSegments::open(file.path(), protocol::kGuestMemoryHead, kSegments * kPage);
  require(segments != nullptr, "the memory can be used");
  return segments;
}

/// A session in which the application waits for an answer of each kind and for some commands.
class FakeSession final : public Reports {
 public:
  FakeSession() {
    memory_.fill(kUntouched);
    expect(protocol::MessageList<protocol::SubDevicesCreated, protocol::ProgramBuilt, protocol::ProgramBinary,
                                 protocol::WorkGroupAnswer, protocol::Finished, protocol::ClockSynced,
                                 protocol::ProgramBuilt>{});
    for (Ref<Event>& event : events_) {
      event = Ref<Event>(new Event(Application::get().context()));
      require(pending_.add(event), "the worker is not lost");
    }
    const auto place = std::span(memory_).subspan(kFrame, kRead);
    pending_.expect_data(id(kReadInParts),
                         [](std::uint32_t /*part*/, std::span<const std::byte> /*data*/) {});
    pending_.expect_bulk(id(kLargeRead), {.fills = place});
    pending_.expect_bulk(id(kGather), {.fills = place, .range = std::make_shared<HostRange>()});
    pending_.expect_bulk(id(kLargeWrite), {.transfer = events_[kMarker], .upload = true});
    pending_.expect_bulk(id(kTimedRead),
                         {.turn = events_[kMarker], .transfer = events_[kLargeRead], .fills = place});
    static const std::vector<std::byte> content(2 * protocol::kPartSize + 1);
    uploads_.add(id(kLargeWrite), {content, nullptr});
    for (std::size_t segment = 0; segment < kSegments; ++segment)
      require(segments_->take(segment, kPage).has_value(), "there is room for the segments");
    dispatch_.start(*this);
  }
  ~FakeSession() override {
    uploads_.close();
    pending_.lose();
    answers_.fail_all("the session is over");
    for (const Ref<Event>& event : events_) require(event->ended(), "every command ends");
    std::size_t pages = 0;
    while (segments_->take(kSegments + pages, kPage)) ++pages;
    require(pages <= kSegments, "no more is free than there is");
    segments_->leave();
    const auto untouched = [](std::byte byte) { return byte == kUntouched; };
    require(std::all_of(memory_.begin(), memory_.begin() + kFrame, untouched) &&
                std::all_of(memory_.end() - kFrame, memory_.end(), untouched),
            "only the memory of the read is written to");
  }
  FakeSession(const FakeSession&) = delete;
  FakeSession& operator=(const FakeSession&) = delete;

  /// Throws DecodeError, which ends sessions.
  template <typename List>
  void take(List list, const protocol::Incoming& batch) {
    static protocol::BatchReader reader;
    reader.read(list, batch.records, batch.frames, batch.owner,
                [this](auto&& message) { dispatch_.take(std::forward<decltype(message)>(message)); });
  }

 private:
  protocol::CommandId id(std::uint64_t number) const {
    return number < kNumbers ? events_.at(static_cast<std::size_t>(number))->id() : ~number;
  }
  template <typename... M>
  void expect(protocol::MessageList<M...> /*list*/) {
    (answers_.expect(M::op,
                     [](void* reply, const std::string& /*why*/) {
                       if (reply != nullptr) use(std::move(*static_cast<M*>(reply)));
                     }),
     ...);
  }

  void event_state(protocol::EventState&& state) override {
    state.command = id(state.command);
    pending_.event_state(Application::get().link(), state);
  }
  void data(protocol::Data&& data) override {
    data.command = id(data.command);
    pending_.data(data);
  }
  void pushed(protocol::PeerData&& part) override {
    part.transfer = id(part.transfer);
    pending_.pushed(Application::get().link(), std::move(part));
  }
  // Only the threads of streams call these.
  std::shared_ptr<std::byte> place(protocol::CommandId /*transfer*/, std::uint64_t /*offset*/,
                                   std::size_t /*size*/) override {
    return nullptr;
  }
  void arrived(protocol::PeerData&& /*part*/) override {}
  void print(protocol::Print&& /*text*/) override {}
  void failed(protocol::Failed&& /*failure*/) override {}
  void out_of_reach(protocol::PeerId /*peer*/, const std::string& /*why*/) override {}
  void unreachable(const protocol::PeerLost& /*loss*/) override {}
  void lost(const std::string& /*reason*/) override {}

  std::array<std::byte, kRead + 2 * kFrame> memory_;
  std::array<Ref<Event>, kNumbers> events_;
  PendingCommands pending_;
  NoControl control_;
  NoHandler handler_;
  NoWay way_;
  Answers answers_{"node"};
  Uploads uploads_{way_};
  Inbox inbox_{nullptr, nullptr, handler_, control_};
  BulkLines bulk_{Application::get().zmq(), Application::get().endpoint(), inbox_, control_};
  const std::shared_ptr<GuestSegments> segments_ = open_segments();
  ReportDispatch dispatch_{answers_, uploads_, bulk_, inbox_, control_, segments_.get()};
};

/// An input is a sequence of batches, with whether each comes through a line for bulk data.
Output& put(Output& output, bool bulk, const protocol::Batch& batch) {
  return put_batch(output.number(static_cast<std::uint8_t>(bulk ? 1 : 0)), batch);
}

protocol::PeerData part(protocol::CommandId transfer, std::uint64_t offset, std::size_t size) {
  static const std::vector<std::byte> ones(kRead, std::byte{1});
  return {transfer, offset, 0, {std::span(ones).first(size), nullptr}};
}

std::vector<std::string> seeds() {
  using namespace protocol;
  std::vector<std::string> all;
  const auto one = [&](const Batch& batch) {
    Output output;
    all.push_back(put(output, false, batch).text());
  };
  const auto each = [&]<typename... M>(MessageList<M...> /*list*/) { (one(batch_of(filled<M>())), ...); };
  each(WorkerMessages{});

  DeviceDescription device = filled<DeviceDescription>();
  for (const auto& [name, text] : {std::pair{CL_DEVICE_NAME, "GPU"},
                                   {CL_DEVICE_VERSION, "OpenCL 3.0"},
                                   {CL_DEVICE_EXTENSIONS, "cl_khr_fp16 cl_khr_fp64 cl_khr_none"},
                                   {CL_DEVICE_IL_VERSION, "SPIR-V_1.2 SPIR-V_1.0"}})
    device.properties.push_back({static_cast<std::uint32_t>(name), Bytes(text, text + std::strlen(text))});
  device.properties.push_back({CL_DEVICE_EXTENSIONS_WITH_VERSION, Bytes(2 * sizeof(cl_name_version), 'x')});
  one(batch_of(SubDevicesCreated{1, 0, {device}}));
  auto built = filled<ProgramBuilt>();
  built.request = 2;
  built.kernels[0].arg_count = 1;
  one(batch_of(built, Finished{5, 0}, ClockSynced{6, -1}));

  const auto done = [](CommandId command, std::int32_t status) {
    return EventState{command, status, {1, 2, 3, 4}};
  };
  Output read;
  put(read, true, batch_of(part(kLargeRead, 128, 128), part(kLargeRead, 0, 64)));
  put(read, false, batch_of(done(kLargeRead, CL_RUNNING), done(kLargeRead, CL_COMPLETE)));
  put(read, true, batch_of(part(kLargeRead, 64, 64)));
  all.push_back(read.text());
  Output early;
  put(early, false, batch_of(done(kGather, CL_COMPLETE), part(kGather, 100, 0), part(kGather, 0, 100)));
  put(early, false, batch_of(done(kTimedRead, -5), part(kTimedRead, 0, 100), done(kMarker, CL_COMPLETE)));
  put(early, false, batch_of(Data{kReadInParts, 0, part(0, 0, 9).data}, done(kReadInParts, CL_COMPLETE)));
  all.push_back(early.text());
  one(batch_of(SegmentFreed{1}, SegmentFreed{0}, SegmentFreed{1}));
  Output upload;
  put(upload, false,
      batch_of(Taken{kLargeWrite, kPartSize}, done(kLargeWrite, -5), Taken{kLargeWrite, kPartSize}));
  all.push_back(upload.text());
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  FakeSession session;
  try {
    for (std::size_t i = 0; i < kMostBatches && !input.empty(); ++i) {
      const bool bulk = (input.number<std::uint8_t>() & 1U) != 0;
      const protocol::Incoming batch = next_batch(input);
      if (bulk)
        session.take(protocol::BulkMessages{}, batch);
      else
        session.take(protocol::WorkerMessages{}, batch);
    }
  } catch (const protocol::DecodeError&) {
    return;
  }
}

const Registration kTarget{"client", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_client
