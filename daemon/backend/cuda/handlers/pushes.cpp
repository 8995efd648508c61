#include "daemon/backend/cuda/handlers/pushes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "daemon/backend/common/outgoing_push.hpp"

namespace clique::daemon::cuda {

namespace {

/// Pushes of at most this many bytes do not go through a window, and no part in a window is planned smaller.
constexpr std::uint64_t kSmall = protocol::kPartSize;
/// Sizes of the parts that a push leaves in the window. The first is small, since nothing overlaps with it.
/// Each next one is kGrowth times what came before it: the copy into the window is five times as fast as
/// NVLink and keeps up, and 7 us are lost between two parts.
constexpr std::uint64_t kMostFirst = 16U << 20U;
constexpr std::uint64_t kMostPart = 128U << 20U;
constexpr std::uint64_t kGrowth = 2;
/// If the window has little room, parts are smaller, but not smaller than this.
constexpr std::uint64_t kLeastPart = 32U << 20U;
/// Parts of one push that are under way through the window: one is copied into it, one is copied from it, and
/// one has been announced to the peer.
constexpr unsigned kPartsAhead = 3;

/// `waits` and the part before: GPUs copy the parts of a transfer one after the other. Together, all of them
/// would be there only when the last one is.
std::vector<TaskRef> after(std::vector<TaskRef> waits, const TaskRef& last) {
  if (last && !last->ended()) waits.push_back(last);
  return waits;
}

/// hold() for what a push reads.
std::shared_ptr<const void> hold_pushed(const MemoryTable<Memory>::Pushed& pushed,
                                        const protocol::Push& message) {
  auto content = hold(pushed.memory, message.offset, message.size);
  if (!pushed.content_size) return content;
  return std::make_shared<const std::array<std::shared_ptr<const void>, 2>>(
      std::array{std::move(content), hold(pushed.content_size, 0, sizeof(std::uint64_t))});
}

std::optional<protocol::ImageShape> shape_of(const Memory& memory) {
  return memory.image ? std::optional(memory.image->shape()) : std::nullopt;
}

}  // namespace

/// A transfer on its way out. Its parts are read one after the other, a few ahead of what has been sent. The
/// command's own task stands for all of them: it is held until the last part was submitted. Main thread,
/// unless said otherwise.
class Pushes::PushJob : public std::enable_shared_from_this<PushJob> {
 public:
  /// @param held keeps the memory of what is pushed
  /// @param waits what each part has to wait for
  /// @param whole the command's task, held
  PushJob(Pushes& pushes, protocol::Push message, std::shared_ptr<Queue> queue,
          MemoryTable<Memory>::Pushed pushed, std::shared_ptr<const void> held, std::vector<TaskRef> waits,
          TaskRef whole)
      : uses_(pushes.uses_),
        window_(pushes.window_),
        push_(uses_.peers, std::move(message), shape_of(*pushed.memory)),
        queue_(std::move(queue)),
        pushed_(std::move(pushed)),
        held_(std::move(held)),
        waits_(std::move(waits)),
        whole_(std::move(whole)) {}

  void start() {
    if (pushed_.content_size)
      read_content_size();
    else
      begin();
  }

 private:
  using Data = std::shared_ptr<std::shared_ptr<std::byte>>;

  protocol::PeerId peer() const { return push_.message().peer; }

  void read_content_size() {
    const auto block = std::make_shared<std::shared_ptr<std::byte>>();
    const auto self = shared_from_this();
    constexpr std::size_t size = sizeof(std::uint64_t);
    const TaskRef read = uses_.commands.transfer(
        *queue_, waits_,
        [self, block](CUstream stream) {
          *block = self->uses_.pinned.chunk(nullptr, size);
          CLIQUE_CUDA(MemcpyDtoHAsync(block->get(), self->pushed_.content_size->address, size, stream));
        },
        {held_, block},
        [self, block](cl_int status) {
          if (status < 0) {
            self->fail(status);
            return;
          }
          self->uses_.tasks.post([self, block] {
            std::array<std::uint8_t, size> number{};
            std::memcpy(number.data(), block->get(), size);
            self->push_.shorten(number);
            self->begin();
          });
        });
    uses_.scheduler.come_after(whole_, read);
  }

  void begin() {
    windowed_ = !pushed_.memory->image && push_.size() > kSmall && peer() != protocol::kClientPeer &&
                window_.open_to(peer());
    const bool ready =
        std::all_of(waits_.begin(), waits_.end(), [](const TaskRef& task) { return task->ended(); });
    if (!windowed_ || ready) {
      read();
      return;
    }
    // A waiting push takes no room in the window: it might wait for a push that needs the room.
    const TaskRef waited =
        uses_.commands.transfer(*queue_, waits_, nullptr, {}, [self = shared_from_this()](cl_int status) {
          if (status < 0)
            self->fail(status);
          else
            self->uses_.tasks.post([self] { self->read(); });
        });
    uses_.scheduler.come_after(whole_, waited);
  }

  void read() {
    chunk_ = uses_.peers.chunk_size(peer(), push_.size());
    const unsigned ahead = windowed_ ? kPartsAhead : uses_.peers.chunks_ahead(peer(), chunk_);
    for (unsigned i = 0; i < ahead; ++i) read_next();
  }

  /// Room in the window for the next part; null if there is none. @param part gets its size
  std::shared_ptr<const Window::Room> take_room(std::uint64_t& part) {
    const std::uint64_t offset = push_.next_offset();
    part = std::min(offset == 0 ? std::clamp(push_.size() / 16, kSmall, kMostFirst)
                                : std::clamp(kGrowth * offset, kSmall, kMostPart),
                    push_.size() - offset);
    std::shared_ptr<const Window::Room> room;
    while (!(room = window_.take(peer(), part)) && part > kLeastPart) part /= 2;
    return room;
  }

  void read_next() {
    if (!whole_) return;
    std::shared_ptr<const Window::Room> room;
    std::uint64_t in_window = 0;
    if (windowed_) room = take_room(in_window);
    const auto part = push_.next(room ? in_window : chunk_);
    const auto data = std::make_shared<std::shared_ptr<std::byte>>();
    const auto self = shared_from_this();
    const TaskRef read = uses_.commands.transfer(
        *queue_, room ? after(waits_, last_in_window_) : waits_,
        [self, data, room, part](CUstream stream) {
          if (room)
            CLIQUE_CUDA(MemcpyDtoDAsync(room->address, self->address_of(part), part.block.size, stream));
          else
            self->read(part, data, stream);
        },
        {held_, data},
        [self, data, room, offset = part.offset, size = part.block.size](cl_int status) {
          if (status < 0)
            self->fail(status);
          else if (room)
            self->announce({room, self->until_sent(room), offset, size});
          else
            self->push_.send(offset, {data->get(), size}, self->until_sent(*data));
        });
    if (room) last_in_window_ = read;
    uses_.scheduler.come_after(whole_, read);
    if (!push_.all_read() && read->status() >= 0) return;
    // All parts are known, or one has failed already. Each keeps the memory until it has been read.
    held_.reset();
    uses_.scheduler.release(std::exchange(whole_, nullptr), queue_->lane);
  }

  CUdeviceptr address_of(const OutgoingPush::Part& part) const {
    return pushed_.memory->address + push_.message().offset + part.offset;
  }

  /// Puts the copy of a part to the host into the stream.
  void read(const OutgoingPush::Part& part, const Data& data, CUstream stream) const {
    *data = uses_.pinned.chunk(uses_.peers.take(peer(), part.block.size), part.block.size);
    if (pushed_.memory->image) {
      const ImageStore& image = *pushed_.memory->image;
      copy(image.place(part.block.origin), image.dense(data->get(), 0, part.block.region),
           image.region(part.block.region), stream);
    } else if (pushed_.memory->in_host) {
      uses_.host_copies.copy(on_gpu(data->get()), address_of(part), part.block.size, stream);
    } else {
      CLIQUE_CUDA(MemcpyDtoHAsync(data->get(), address_of(part), part.block.size, stream));
    }
  }

  /// A part that lies in the window.
  struct InWindow {
    std::shared_ptr<const Window::Room> room;
    std::shared_ptr<const void> taken;  ///< released when the peer has copied it
    std::uint64_t offset;
    std::uint64_t size;
  };
  /// Tells the peer of the part. Any thread.
  void announce(const InWindow& part) {
    if (window_.send(peer(), push_.message().transfer, push_.message().at + part.offset, part.room, part.size,
                     part.taken))
      return;
    // The peer is thousands of messages behind, or gone: tries again unless it is gone.
    if (uses_.peers.shares(peer()))
      uses_.tasks.post([self = shared_from_this(), part] { self->announce(part); });
  }

  /// Keeps what is on its way to the peer. When it is released, the next part is read.
  template <typename T>
  std::shared_ptr<const void> until_sent(std::shared_ptr<T> kept) {
    const T* const what = kept.get();
    return {what, [self = shared_from_this(), kept](const void*) mutable {
              kept.reset();
              if (self->push_.part_sent()) self->uses_.tasks.post([self] { self->read_next(); });
            }};
  }

  /// Any thread.
  void fail(cl_int status) {
    if (!push_.fail(status)) return;
    uses_.tasks.post([self = shared_from_this(), status] { self->uses_.commands.end(self->whole_, status); });
  }

  const Uses& uses_;
  Window& window_;
  OutgoingPush push_;
  const std::shared_ptr<Queue> queue_;
  const MemoryTable<Memory>::Pushed pushed_;
  std::shared_ptr<const void> held_;  // the memory of what is pushed
  const std::vector<TaskRef> waits_;
  bool windowed_ = false;    // whether parts go through the window
  std::uint64_t chunk_ = 0;  // bytes of a part outside of the window
  TaskRef whole_;            // null once it was released
  TaskRef last_in_window_;
};

void Pushes::handle(protocol::Push&& message) {
  if (!uses_.peers.known(message.peer))
    throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
  std::shared_ptr<Queue> queue;
  try {
    queue = uses_.objects.queues().get(message.command.queue);
    auto pushed = uses_.objects.memory().pushed(message);
    auto held = hold_pushed(pushed, message);
    std::vector<TaskRef> waits;
    const TaskRef whole = uses_.commands.hold(message.command, waits);
    std::make_shared<PushJob>(*this, message, queue, std::move(pushed), std::move(held), std::move(waits),
                              whole)
        ->start();
  } catch (const ClError& error) {
    OutgoingPush::refuse(uses_.peers, message, error.status());
    uses_.commands.refuse(message.command, queue.get(), error);
  }
}

/// A transfer on its way in. The command's own task stands for the writes of all parts.
class Pushes::ExpectSink : public TransferSink {
 public:
  /// @param held keeps the memory that the content is for
  /// @param waits what each write has to wait for
  /// @param whole the command's task, held
  ExpectSink(Pushes& pushes, const protocol::Expect& message, std::shared_ptr<Queue> queue,
             std::shared_ptr<Memory> memory, std::shared_ptr<const void> held, std::vector<TaskRef> waits,
             TaskRef whole)
      : uses_(pushes.uses_),
        peer_windows_(pushes.peer_windows_),
        offset_(message.offset),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        held_(std::move(held)),
        waits_(std::move(waits)),
        whole_(std::make_shared<TaskRef>(std::move(whole))),
        left_(message.size) {}

  void write(std::uint64_t offset, protocol::Payload data) override {
    if (!*whole_) return;
    const std::uint64_t size = data.bytes.size();
    if (mapped_ && data.bytes.data() == place() + offset) {
      need_less(size);
      return;
    }
    const protocol::ImageBlock block = memory_->image
                                           ? block_at(memory_->image->shape(), offset_ + offset, size)
                                           : protocol::ImageBlock{{}, {}, size};
    if (block.size != size) {
      fail(CL_INVALID_VALUE);
      return;
    }
    const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
    put(waits_, size, staged,
        [&pinned = uses_.pinned, &host_copies = uses_.host_copies, memory = memory_, staged,
         data = std::move(data), block, at = offset_ + offset](CUstream stream) {
          *staged = pinned.pinned(data);
          if (memory->image) {
            const ImageStore& image = *memory->image;
            copy(image.dense(staged->get(), 0, block.region), image.place(block.origin),
                 image.region(block.region), stream);
          } else if (memory->in_host && pinned.is_pinned(staged->get(), data)) {
            host_copies.copy(memory->address + at, on_gpu(staged->get()), data.bytes.size(), stream);
          } else {
            CLIQUE_CUDA(MemcpyHtoDAsync(memory->address + at, staged->get(), data.bytes.size(), stream));
          }
        });
  }
  void fetch(protocol::WindowData&& part) override {
    if (!*whole_) return;
    if (memory_->image)
      throw RuleBroken("transfer " + std::to_string(part.transfer) + ": a part of an image lies in a window");
    last_fetched_ =
        put(after(waits_, last_fetched_), part.size, part.hold.owner,
            [from = peer_windows_.address(part), to = memory_->address + offset_ + part.offset,
             size = part.size](CUstream stream) { CLIQUE_CUDA(MemcpyDtoDAsync(to, from, size, stream)); });
  }
  void come_short(std::uint64_t size) override {
    if (*whole_) need_less(size);
  }
  void fail(std::int32_t status) override { uses_.commands.end(*whole_, status); }
  bool divisible() const override { return !memory_->image; }
  bool map(Writer writer, std::function<void(std::shared_ptr<std::byte>)> action) override {
    if (writer != Writer::Device || memory_->image || memory_->sparse || !*whole_) return false;
    mapped_ = true;
    const TaskRef ready = uses_.commands.transfer(
        *queue_, waits_, nullptr, {},
        [&uses = uses_, whole = whole_, range = std::shared_ptr<std::byte>(memory_, place()),
         action = std::move(action)](cl_int status) {
          if (status < 0) uses.tasks.post([&uses, whole, status] { uses.commands.end(*whole, status); });
          action(status < 0 ? nullptr : range);
        });
    uses_.scheduler.come_after(*whole_, ready);
    return true;
  }

 private:
  /// The range's first byte, which only the GPU can reach. CUDA's addresses are integers.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::byte* place() const { return reinterpret_cast<std::byte*>(memory_->address + offset_); }
  /// Writes a part.
  /// @param keep what must live until it is written
  TaskRef put(const std::vector<TaskRef>& waits, std::uint64_t size, std::shared_ptr<const void> keep,
              std::function<void(CUstream)> run) {
    TaskRef done = uses_.commands.transfer(
        *queue_, waits, std::move(run), {held_, std::move(keep)},
        [&uses = uses_, whole = whole_](cl_int status) {
          if (status < 0) uses.tasks.post([&uses, whole, status] { uses.commands.end(*whole, status); });
        });
    uses_.scheduler.come_after(*whole_, done);
    need_less(size);
    return done;
  }
  void need_less(std::uint64_t size) {
    left_ -= size;
    if (left_ != 0) return;
    held_.reset();
    uses_.scheduler.release(std::exchange(*whole_, nullptr), queue_->lane);
  }

  const Uses& uses_;
  const PeerWindows& peer_windows_;
  const std::uint64_t offset_;  // in the object
  const std::shared_ptr<Queue> queue_;
  const std::shared_ptr<Memory> memory_;
  std::shared_ptr<const void> held_;  // the memory that the content is for
  const std::vector<TaskRef> waits_;
  /// Null once it was released or has failed. Writes under way share it, since they may outlive the sink.
  const std::shared_ptr<TaskRef> whole_;
  TaskRef last_fetched_;
  bool mapped_ = false;  // parts may have been put in place already
  std::uint64_t left_;   // bytes that are still to come
};

std::unique_ptr<TransferSink> Pushes::expect(protocol::Expect&& message) {
  std::shared_ptr<Queue> queue;
  try {
    queue = uses_.objects.queues().get(message.command.queue);
    const auto memory = uses_.objects.memory().expected(message);
    auto held = hold(memory, message.offset, message.size);
    std::vector<TaskRef> waits;
    const TaskRef whole = uses_.commands.hold(message.command, waits);
    return std::make_unique<ExpectSink>(*this, message, queue, memory, std::move(held), std::move(waits),
                                        whole);
  } catch (const ClError& error) {
    uses_.commands.refuse(message.command, queue.get(), error);
    return nullptr;
  }
}

}  // namespace clique::daemon::cuda
