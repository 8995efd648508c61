// Data from worker to worker: Push reads and sends, Expect receives and writes.
#include <algorithm>
#include <cstring>

#include "daemon/backend/cuda/cuda_backend.hpp"

namespace clique::daemon::cuda {

namespace {
/// What one WindowData tells of: little at first, since nothing overlaps with the first part, then so much
/// that the copy into the window, five times as fast as NVLink, keeps up; between two parts 7 us are lost.
constexpr std::uint64_t kMostFirst = 16U << 20U;
constexpr std::uint64_t kMostPart = 128U << 20U;
constexpr std::uint64_t kGrowth = 2;
/// Where there is not much room, parts are smaller, down to this.
constexpr std::uint64_t kLeastPart = 32U << 20U;
/// Of the parts of one push: one is copied to the window, one from there, and of one the news is on its way.
constexpr unsigned kPartsAhead = 3;

/// For parts that GPUs copy: one after the other, or all of them would be there when the last is.
std::vector<TaskRef> after(std::vector<TaskRef> waits, const TaskRef& last) {
  if (last && !last->ended()) waits.push_back(last);
  return waits;
}
}  // namespace

/// A transfer on its way out. Chunks are read one after the other, a few ahead of what has been sent. The
/// command's own task stands for all of them: it is held until the last was submitted.
class CudaBackend::PushJob : public std::enable_shared_from_this<PushJob> {
 public:
  /// @param content_size null where the message names none.
  PushJob(CudaBackend& backend, protocol::Push message, std::shared_ptr<Queue> queue,
          std::shared_ptr<Memory> memory, std::shared_ptr<Memory> content_size, std::vector<TaskRef> waits,
          TaskRef whole)
      : backend_(backend),
        message_(std::move(message)),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        content_size_(std::move(content_size)),
        waits_(std::move(waits)),
        size_(message_.size),
        whole_(std::move(whole)) {}

  void start() {
    if (content_size_) {
      read_content_size();
    } else {
      begin();
    }
  }

  /// Tells the peer that nothing comes.
  static void refuse(PeerLinks& peers, const protocol::Push& message, cl_int status) {
    peers.send(message.peer, protocol::PeerData{message.transfer, 0, status, {}});
  }

 private:
  void read_content_size() {
    const auto block = std::make_shared<std::shared_ptr<std::byte>>();
    const auto self = shared_from_this();
    constexpr std::size_t size = sizeof(std::uint64_t);
    const TaskRef read = backend_.transfer(
        *queue_, waits_,
        [self, block](CUstream stream) {
          *block = self->backend_.chunk(nullptr, size);
          CLIQUE_CUDA(MemcpyDtoHAsync(block->get(), self->content_size_->address, size, stream));
        },
        {content_size_, block},
        [self, block](cl_int status) {
          if (status < 0) {
            self->fail(status);
            return;
          }
          self->backend_.surroundings_.tasks.post([self, block] {
            std::array<std::uint8_t, size> number{};
            std::memcpy(number.data(), block->get(), size);
            self->cut(meant_size(self->message_, number));
            self->begin();
          });
        });
    backend_.scheduler_.come_after(whole_, read);
  }

  /// Before anything is read.
  void cut(std::uint64_t size) {
    if (size == size_) return;
    size_ = size;
    backend_.surroundings_.peers.send(message_.peer,
                                      protocol::PeerData{message_.transfer, message_.at + size, 0, {}});
  }

  void begin() {
    windowed_ = !memory_->image && size_ > protocol::kPartSize && message_.peer != protocol::kClientPeer &&
                backend_.window_.open_to(message_.peer);
    const bool ready =
        std::all_of(waits_.begin(), waits_.end(), [](const TaskRef& task) { return task->ended(); });
    if (!windowed_ || ready) {
      read();
      return;
    }
    // While it waits it takes no room from others, for which it might wait.
    const TaskRef waited =
        backend_.transfer(*queue_, waits_, nullptr, {}, [self = shared_from_this()](cl_int status) {
          if (status < 0)
            self->fail(status);
          else
            self->backend_.surroundings_.tasks.post([self] { self->read(); });
        });
    backend_.scheduler_.come_after(whole_, waited);
  }

  void read() {
    PeerLinks& peers = backend_.surroundings_.peers;
    chunk_ = peers.chunk_size(message_.peer, size_);
    const unsigned ahead = windowed_ ? kPartsAhead : peers.chunks_ahead(message_.peer, chunk_);
    for (unsigned i = 0; i < ahead; ++i) read_next();
  }

  /// How much to leave in the window at once.
  std::uint64_t part_at(std::uint64_t offset) const {
    return offset == 0 ? std::clamp(size_ / 16, protocol::kPartSize, kMostFirst)
                       : std::clamp(kGrowth * offset, protocol::kPartSize, kMostPart);
  }

  void read_next() {
    if (!whole_) return;
    const std::uint64_t offset = next_;
    std::uint64_t chunk = chunk_;
    std::shared_ptr<const Window::Room> room;
    if (windowed_) {
      std::uint64_t part = std::min(part_at(offset), size_ - offset);
      while (!(room = backend_.window_.take(message_.peer, part)) && part > kLeastPart) part /= 2;
      if (room) chunk = part;
    }
    const Block block = memory_->image ? block_at(memory_->image->shape(), offset, chunk)
                                       : Block{{}, {}, std::min(chunk, size_ - offset)};
    next_ += block.size;
    const auto data = std::make_shared<std::shared_ptr<std::byte>>();
    const auto self = shared_from_this();
    const TaskRef read = backend_.transfer(
        *queue_, room ? after(waits_, last_in_window_) : waits_,
        [self, data, room, block, offset](CUstream stream) {
          if (room) {
            CLIQUE_CUDA(MemcpyDtoDAsync(
                room->address, self->memory_->address + self->message_.offset + offset, block.size, stream));
            return;
          }
          CudaBackend& backend = self->backend_;
          *data =
              backend.chunk(backend.surroundings_.peers.take(self->message_.peer, block.size), block.size);
          self->read(data->get(), block, offset, stream);
        },
        {memory_, data},
        [self, data, room, offset, size = block.size](cl_int status) {
          if (status < 0)
            self->fail(status);
          else if (room)
            self->tell(room, self->until_sent(room), offset, size);
          else
            self->send(*data, offset, size);
        });
    if (room) last_in_window_ = read;
    backend_.scheduler_.come_after(whole_, read);
    if (next_ < size_ && read->status() >= 0) return;
    // Everything that it stands for is known, or something has failed already.
    backend_.scheduler_.release(std::exchange(whole_, nullptr), queue_->lane);
  }

  void read(std::byte* to, const Block& block, std::uint64_t offset, CUstream stream) const {
    if (memory_->image) {
      const ImageStore& image = *memory_->image;
      copy(image.place(block.origin), image.dense(to, 0, block.region), image.region(block.region), stream);
    } else {
      CLIQUE_CUDA(MemcpyDtoHAsync(to, memory_->address + message_.offset + offset, block.size, stream));
    }
  }

  /// On any thread.
  void send(const std::shared_ptr<std::byte>& data, std::uint64_t offset, std::uint64_t size) {
    backend_.surroundings_.peers.send(
        message_.peer,
        protocol::PeerData{
            message_.transfer, message_.at + offset, 0, {{data.get(), size}, until_sent(data)}});
  }

  /// On any thread.
  void tell(const std::shared_ptr<const Window::Room>& room, const std::shared_ptr<const void>& taken,
            std::uint64_t offset, std::uint64_t size) {
    if (backend_.window_.send(message_.peer, message_.transfer, message_.at + offset, room, size, taken))
      return;
    // It is behind by thousands of messages, or gone.
    if (backend_.surroundings_.peers.shares(message_.peer))
      backend_.surroundings_.tasks.post(
          [self = shared_from_this(), room, taken, offset, size] { self->tell(room, taken, offset, size); });
  }

  /// Keeps what is on its way, and makes room for the next in the end.
  template <typename T>
  std::shared_ptr<const void> until_sent(std::shared_ptr<T> kept) {
    const T* const what = kept.get();
    return {what, [self = shared_from_this(), kept](const void*) mutable {
              kept.reset();
              self->backend_.surroundings_.tasks.post([self] { self->read_next(); });
            }};
  }

  /// On any thread.
  void fail(cl_int status) {
    if (failed_.exchange(true)) return;
    refuse(backend_.surroundings_.peers, message_, status);
    backend_.surroundings_.tasks.post(
        [self = shared_from_this(), status] { self->backend_.end_transfer(self->whole_, status); });
  }

  CudaBackend& backend_;
  const protocol::Push message_;
  const std::shared_ptr<Queue> queue_;
  const std::shared_ptr<Memory> memory_;
  const std::shared_ptr<Memory> content_size_;
  const std::vector<TaskRef> waits_;
  bool windowed_ = false;    // main thread
  std::uint64_t size_;       // main thread
  std::uint64_t chunk_ = 0;  // what one PeerData carries; main thread, from read() on
  TaskRef whole_;            // null once it was released
  TaskRef last_in_window_;   // main thread
  std::uint64_t next_ = 0;   // main thread
  std::atomic<bool> failed_ = false;
};

void CudaBackend::handle(protocol::Push&& message) {
  if (!surroundings_.peers.known(message.peer))
    throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
  const Command command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    const auto memory = memory_.get(message.object);
    check_transfer(message.offset, message.size, memory->size, memory->image != nullptr, "a push");
    std::shared_ptr<Memory> content_size;
    if (message.content_size != 0) {
      content_size = memory_.get(message.content_size);
      check_content_size(message, memory->image != nullptr, content_size->size,
                         content_size->image != nullptr);
    }
    std::vector<TaskRef> waits;
    const TaskRef whole = make_transfer(command, waits);
    std::make_shared<PushJob>(*this, message, queue, memory, std::move(content_size), std::move(waits), whole)
        ->start();
  } catch (const ClError& error) {
    PushJob::refuse(surroundings_.peers, message, error.status());
    fail(command, queue, error);
  }
}

TaskRef CudaBackend::make_transfer(const Command& command, std::vector<TaskRef>& waits) {
  std::vector<ReportOrder::EntryRef> after;
  resolve(command.waits, waits, after);
  const bool report = (command.flags & Command::kReport) != 0;
  const auto entry = report ? surroundings_.order.expect(after) : nullptr;
  auto task = std::make_shared<Task>();
  task->stands_for_waits = true;
  task->prompt = true;
  if (report)
    task->at_end = [this, entry, id = command.id](Task& /*task*/, cl_int status) {
      surroundings_.order.due(
          entry, [this, id, status] { surroundings_.reporter.add(protocol::EventState{id, status, {}}); });
    };
  scheduler_.hold(task);
  if ((command.flags & (Command::kEvent | Command::kReport)) != 0)
    add_event(command.id, {task, CL_SUCCESS, entry});
  return task;
}

void CudaBackend::end_transfer(TaskRef& whole, cl_int status) {
  if (whole) scheduler_.end(std::exchange(whole, nullptr), status);
}

/// A transfer on its way in. The command's own task stands for the writes of its parts.
class CudaBackend::ExpectSink : public TransferSink {
 public:
  ExpectSink(CudaBackend& backend, protocol::Expect message, std::shared_ptr<Queue> queue,
             std::shared_ptr<Memory> memory, std::vector<TaskRef> waits, TaskRef whole)
      : backend_(backend),
        message_(std::move(message)),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        waits_(std::move(waits)),
        whole_(std::make_shared<TaskRef>(std::move(whole))),
        left_(message_.size) {}

  void write(std::uint64_t offset, protocol::Payload data) override {
    if (!*whole_) return;
    const std::uint64_t size = data.bytes.size();
    const Block block =
        memory_->image ? block_at(memory_->image->shape(), offset, size) : Block{{}, {}, size};
    if (block.size != size) {
      fail(CL_INVALID_VALUE);
      return;
    }
    const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
    put(waits_, size, staged,
        [&backend = backend_, memory = memory_, staged, data = std::move(data), block,
         at = message_.offset + offset](CUstream stream) {
          *staged = backend.pinned(data);
          if (memory->image) {
            const ImageStore& image = *memory->image;
            copy(image.dense(staged->get(), 0, block.region), image.place(block.origin),
                 image.region(block.region), stream);
          } else {
            CLIQUE_CUDA(MemcpyHtoDAsync(memory->address + at, staged->get(), data.bytes.size(), stream));
          }
        });
  }
  void fetch(protocol::WindowData&& part) override {
    if (!*whole_) return;
    if (memory_->image) throw RuleBroken("part of an image in a window");
    last_fetched_ = put(
        after(waits_, last_fetched_), part.size, part.hold.owner,
        [from = backend_.peer_windows_.address(part), to = memory_->address + message_.offset + part.offset,
         size = part.size](CUstream stream) { CLIQUE_CUDA(MemcpyDtoDAsync(to, from, size, stream)); });
  }
  void come_short(std::uint64_t size) override {
    if (*whole_) need_less(size);
  }
  void fail(std::int32_t status) override { backend_.end_transfer(*whole_, status); }
  bool divisible() const override { return !memory_->image; }

 private:
  /// @param keep until it has been done
  TaskRef put(const std::vector<TaskRef>& waits, std::uint64_t size, std::shared_ptr<const void> keep,
              std::function<void(CUstream)> run) {
    TaskRef done = backend_.transfer(*queue_, waits, std::move(run), {memory_, std::move(keep)},
                                     [&backend = backend_, whole = whole_](cl_int status) {
                                       if (status < 0)
                                         backend.surroundings_.tasks.post([&backend, whole, status] {
                                           backend.end_transfer(*whole, status);
                                         });
                                     });
    backend_.scheduler_.come_after(*whole_, done);
    need_less(size);
    return done;
  }
  void need_less(std::uint64_t size) {
    if ((left_ -= size) == 0) backend_.scheduler_.release(std::exchange(*whole_, nullptr), queue_->lane);
  }

  CudaBackend& backend_;
  const protocol::Expect message_;
  const std::shared_ptr<Queue> queue_;
  const std::shared_ptr<Memory> memory_;
  const std::vector<TaskRef> waits_;
  /// Null once it was released, or has failed. Writes under way have it, too.
  const std::shared_ptr<TaskRef> whole_;
  TaskRef last_fetched_;
  std::uint64_t left_;
};

std::unique_ptr<TransferSink> CudaBackend::expect(protocol::Expect&& message) {
  const Command command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    const auto memory = memory_.get(message.object);
    check_transfer(message.offset, message.size, memory->size, memory->image != nullptr,
                   "an expected transfer");
    std::vector<TaskRef> waits;
    const TaskRef whole = make_transfer(command, waits);
    return std::make_unique<ExpectSink>(*this, std::move(message), queue, memory, std::move(waits), whole);
  } catch (const ClError& error) {
    fail(command, queue, error);
    return nullptr;
  }
}

}  // namespace clique::daemon::cuda
