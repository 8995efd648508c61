// Transfers between workers: Push reads and sends, Expect receives and writes.
#include <algorithm>
#include <cstring>

#include "daemon/backend/common/outgoing_push.hpp"
#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

namespace {

/// Chunks of a mapped range need no memory of their own, so they may be large: to hand one from thread to
/// thread takes longer than to write some 100 KiB to a file.
constexpr std::uint64_t kMappedChunk = 16 * protocol::kMiB;
constexpr unsigned kMappedAhead = 4;

std::optional<protocol::ImageShape> shape_of(const Memory& memory) {
  return memory.image ? std::optional(memory.shape) : std::nullopt;
}

/// The memory that the host may copy from and to as soon as the events of the wait list have ended. Null if
/// the driver has to copy: it alone orders the commands of an in-order queue and those after a barrier, and
/// memory without Memory::host is its own.
std::byte* copied_by_host(const Queue& queue, const Memory& memory) {
  return queue.in_order || queue.barrier ? nullptr : memory.host.get();
}

/// Whether mapped memory of the queue's device is the device's own.
bool has_host_memory(cl_command_queue queue) {
  cl_device_id device = nullptr;
  cl_bool unified = CL_FALSE;
  return clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) == CL_SUCCESS &&
         clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, nullptr) ==
             CL_SUCCESS &&
         unified != CL_FALSE;
}

}  // namespace

/// A wait list in the form that the driver's enqueue calls take, with a reference to each event.
class WaitList {
 public:
  explicit WaitList(std::vector<cl_event> events)
      : events_(std::move(events)), references_(retained(events_)) {}

  cl_uint size() const { return static_cast<cl_uint>(events_.size()); }
  const cl_event* data() const { return events_.empty() ? nullptr : events_.data(); }
  const std::vector<Handle<cl_event>>& references() const { return references_; }
  bool has_failed() const {
    return std::any_of(events_.begin(), events_.end(), [](cl_event event) { return status_of(event) < 0; });
  }

 private:
  std::vector<cl_event> events_;
  std::vector<Handle<cl_event>> references_;
};

/// A transfer on its way out. Its parts are read one after the other, a few ahead of what has been sent. Main
/// thread, unless said otherwise.
class OpenClBackend::PushJob : public std::enable_shared_from_this<PushJob> {
 public:
  PushJob(OpenClBackend& backend, protocol::Push message, std::shared_ptr<Queue> queue,
          MemoryTable<Memory>::Pushed pushed, std::vector<cl_event> waits)
      : backend_(backend),
        push_(backend.surroundings_.peers, std::move(message), shape_of(*pushed.memory)),
        queue_(std::move(queue)),
        pushed_(std::move(pushed)),
        waits_(std::move(waits)),
        host_(copied_by_host(*queue_, *pushed_.memory)) {}

  /// @param end the user event that stands for the whole push; may be empty.
  void start(Handle<cl_event> end, CommandReports::Entry report) {
    end_ = std::move(end);
    report_ = std::move(report);
    if (pushed_.content_size)
      read_content_size();
    else
      read();
  }

 private:
  void read_content_size() {
    const auto number = std::make_shared<std::array<std::uint8_t, 8>>();
    Handle<cl_event> read;
    const cl_int status =
        clEnqueueReadBuffer(queue_->native.get(), pushed_.content_size->native.get(), CL_FALSE, 0,
                            number->size(), number->data(), waits_.size(), waits_.data(), read.put());
    if (status != CL_SUCCESS) {
      fail(status);
      return;
    }
    backend_.entered(queue_, read, waits_.size() > 0);
    backend_.watcher_.watch(read, [self = shared_from_this(), number](cl_int result) {
      if (result < 0) {
        self->fail(result);
        return;
      }
      self->backend_.surroundings_.tasks.post([self, number] {
        self->push_.shorten(*number);
        self->read();
      });
    });
  }

  void read() {
    if (map()) return;
    read_ahead();
  }

  void read_ahead() {
    left_ = push_.size();
    PeerLinks& peers = backend_.surroundings_.peers;
    chunk_ = mapped_ ? kMappedChunk
                     : std::min<std::uint64_t>(peers.chunk_size(push_.message().peer, push_.size()),
                                               protocol::kPartSize);
    const unsigned ahead = mapped_ ? kMappedAhead : peers.chunks_ahead(push_.message().peer, chunk_);
    for (unsigned i = 0; i < ahead; ++i) read_next();
  }

  /// Maps the range if this process takes the parts itself, as those of a file: these need no copy then.
  /// @returns whether it is going to be mapped
  bool map() {
    // A push with an event completes when its parts have been read. From then on the program may change the
    // range, although parts are still being written, so these have to be copies.
    if (push_.message().peer != protocol::kOwnPeer || pushed_.memory->image || end_) return false;
    const auto mapped = [self = shared_from_this()](cl_int result) {
      if (result < 0)
        self->fail(result);
      else
        self->backend_.surroundings_.tasks.post([self] { self->read_ahead(); });
    };
    if (host_ != nullptr) {
      mapped_ = {pushed_.memory, host_ + push_.message().offset};
      backend_.when_all_ended(waits_.references(), mapped);
      return true;
    }
    if (!has_host_memory(queue_->native.get())) return false;
    Handle<cl_event> ready;
    cl_int status = CL_SUCCESS;
    auto* const place = static_cast<std::byte*>(clEnqueueMapBuffer(
        queue_->native.get(), pushed_.memory->native.get(), CL_FALSE, CL_MAP_READ, push_.message().offset,
        push_.size(), waits_.size(), waits_.data(), ready.put(), &status));
    if (status != CL_SUCCESS) return false;
    mapped_ = {place, [memory = pushed_.memory, queue = queue_](std::byte* mapped) {
                 clEnqueueUnmapMemObject(queue->native.get(), memory->native.get(), mapped, 0, nullptr,
                                         nullptr);
                 clFlush(queue->native.get());
               }};
    backend_.entered(queue_, ready, waits_.size() > 0);
    backend_.watcher_.watch(ready, mapped);
    return true;
  }

  void read_next() {
    if (push_.all_read() || push_.failed()) return;
    const auto [offset, block] = push_.next(chunk_);
    if (mapped_) {
      send({mapped_, mapped_.get() + offset}, offset, block.size, CL_SUCCESS);
      return;
    }
    auto data = backend_.surroundings_.peers.take(push_.message().peer, block.size);
    if (!data) data = backend_.staging_.take(block.size);
    if (host_ != nullptr) {
      backend_.when_all_ended(waits_.references(), [self = shared_from_this(), data, at = offset,
                                                    size = block.size](cl_int result) {
        if (result >= 0) std::memcpy(data.get(), self->host_ + self->push_.message().offset + at, size);
        self->send(data, at, size, result);
      });
      return;
    }
    Handle<cl_event> read;
    const cl_int status = pushed_.memory->image
                              ? clEnqueueReadImage(queue_->native.get(), pushed_.memory->native.get(),
                                                   CL_FALSE, block.origin.data(), block.region.data(), 0, 0,
                                                   data.get(), waits_.size(), waits_.data(), read.put())
                              : clEnqueueReadBuffer(queue_->native.get(), pushed_.memory->native.get(),
                                                    CL_FALSE, push_.message().offset + offset, block.size,
                                                    data.get(), waits_.size(), waits_.data(), read.put());
    if (status != CL_SUCCESS) {
      fail(status);
      return;
    }
    backend_.entered(queue_, read, waits_.size() > 0);
    backend_.watcher_.watch(read, [self = shared_from_this(), data, at = offset,
                                   size = block.size](cl_int result) { self->send(data, at, size, result); });
  }

  /// A part has been read, or lies in the mapped range. Any thread.
  void send(const std::shared_ptr<std::byte>& data, std::uint64_t offset, std::uint64_t size, cl_int status) {
    if (status < 0) {
      fail(status);
      return;
    }
    // When the part is sent, the next is read.
    const std::shared_ptr<const void> sent(data.get(), [self = shared_from_this(), data](const void*) {
      if (self->push_.part_sent()) self->backend_.surroundings_.tasks.post([self] { self->read_next(); });
    });
    push_.send(offset, {data.get(), size}, sent);
    if ((left_ -= size) == 0 && !push_.failed() && end_)
      backend_.end_user_event(push_.message().command.id, end_, report_, CL_COMPLETE);
  }

  /// Any thread.
  void fail(cl_int status) {
    if (push_.fail(status) && end_)
      backend_.end_user_event(push_.message().command.id, end_, report_, status);
  }

  OpenClBackend& backend_;
  OutgoingPush push_;
  const std::shared_ptr<Queue> queue_;
  const MemoryTable<Memory>::Pushed pushed_;
  const WaitList waits_;
  std::byte* const host_;  // copied_by_host()
  Handle<cl_event> end_;
  CommandReports::Entry report_;
  std::shared_ptr<std::byte> mapped_;    // the range; null: its parts are read
  std::uint64_t chunk_ = 0;              // bytes of each part but the last
  std::atomic<std::uint64_t> left_ = 0;  // bytes that are still to be sent
};

void OpenClBackend::handle(protocol::Push&& message) {
  if (!surroundings_.peers.known(message.peer))
    throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
  const Command command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    auto pushed = memory_.pushed(message);
    std::vector<cl_event> waits;
    std::vector<CommandReports::Entry> after;
    resolve(command.waits, waits, after);
    auto job = std::make_shared<PushJob>(*this, message, queue, std::move(pushed), std::move(waits));
    Handle<cl_event> end;
    CommandReports::Entry report;
    if (has_event(command)) {
      const Event& event = add_user_event(command, queue->context->native.get(), after);
      end = event.native;
      report = event.order;
    }
    job->start(std::move(end), std::move(report));
  } catch (const ClError& error) {
    OutgoingPush::refuse(surroundings_.peers, message, error.status());
    refuse(command, queue.get(), error);
  }
}

/// A transfer on its way in. Completes the Expect command when all parts are written.
class OpenClBackend::ExpectSink : public TransferSink {
 public:
  ExpectSink(OpenClBackend& backend, const protocol::Expect& message, std::shared_ptr<Queue> queue,
             std::shared_ptr<Memory> memory, std::vector<cl_event> waits, Handle<cl_event> end,
             CommandReports::Entry report)
      : backend_(backend),
        offset_(message.offset),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        waits_(std::move(waits)),
        progress_(std::make_shared<Progress>(backend, message.command.id, queue_, memory_)) {
    progress_->left = message.size;
    progress_->end = std::move(end);
    progress_->report = std::move(report);
  }

  void write(std::uint64_t offset, protocol::Payload data) override {
    if (progress_->finished) return;
    if (progress_->mapped && data.bytes.data() == progress_->mapped + offset) {
      data.owner.reset();
      progress_->need_less(data.bytes.size());
      return;
    }
    // Some drivers accept a command that waits for a failed one, and then never report it.
    if (backend_.failures_seen_ && waits_.has_failed()) {
      fail(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
      return;
    }
    if (progress_->host != nullptr) {
      backend_.when_all_ended(waits_.references(),
                              [progress = progress_, data, at = offset_ + offset](cl_int result) {
                                if (result < 0) {
                                  progress->finish(result);
                                  return;
                                }
                                std::memcpy(progress->host + at, data.bytes.data(), data.bytes.size());
                                progress->need_less(data.bytes.size());
                              });
      return;
    }
    Handle<cl_event> written;
    cl_int status = CL_SUCCESS;
    if (memory_->image) {
      const protocol::ImageBlock block = block_at(memory_->shape, offset_ + offset, data.bytes.size());
      status = block.size != data.bytes.size()
                   ? CL_INVALID_VALUE
                   : clEnqueueWriteImage(queue_->native.get(), memory_->native.get(), CL_FALSE,
                                         block.origin.data(), block.region.data(), 0, 0, data.bytes.data(),
                                         waits_.size(), waits_.data(), written.put());
    } else {
      status = clEnqueueWriteBuffer(queue_->native.get(), memory_->native.get(), CL_FALSE, offset_ + offset,
                                    data.bytes.size(), data.bytes.data(), waits_.size(), waits_.data(),
                                    written.put());
    }
    if (status != CL_SUCCESS) {
      fail(status);
      return;
    }
    backend_.entered(queue_, written, waits_.size() > 0);
    backend_.watcher_.watch(written, [progress = progress_, data](cl_int result) {
      if (result < 0)
        progress->finish(result);
      else
        progress->need_less(data.bytes.size());
    });
  }

  void come_short(std::uint64_t size) override { progress_->need_less(size); }
  void fail(std::int32_t status) override { progress_->finish(status); }
  bool divisible() const override { return !memory_->image; }

  bool map(Writer writer, std::function<void(std::shared_ptr<std::byte>)> action) override {
    if (writer != Writer::Process || memory_->image || progress_->finished ||
        (backend_.failures_seen_ && waits_.has_failed()))
      return false;
    const auto mapped = [progress = progress_, action = std::move(action)](cl_int result) {
      action(result < 0 ? nullptr : std::shared_ptr<std::byte>(progress->memory, progress->mapped));
    };
    if (progress_->host != nullptr) {
      progress_->mapped = progress_->host + offset_;
      backend_.when_all_ended(waits_.references(), mapped);
      return true;
    }
    if (!has_host_memory(queue_->native.get())) return false;
    Handle<cl_event> ready;
    cl_int status = CL_SUCCESS;
    auto* const place = static_cast<std::byte*>(clEnqueueMapBuffer(
        queue_->native.get(), memory_->native.get(), CL_FALSE, CL_MAP_WRITE_INVALIDATE_REGION, offset_,
        progress_->left, waits_.size(), waits_.data(), ready.put(), &status));
    if (status != CL_SUCCESS) return false;
    progress_->mapped = place;
    backend_.entered(queue_, ready, waits_.size() > 0);
    backend_.watcher_.watch(ready, mapped);
    return true;
  }

 private:
  /// What is still to be written. Outlives the sink, since the last writes complete after the last part came.
  /// Any thread.
  struct Progress : std::enable_shared_from_this<Progress> {
    Progress(OpenClBackend& owner, CommandId command, std::shared_ptr<Queue> of, std::shared_ptr<Memory> to)
        : backend(owner),
          id(command),
          queue(std::move(of)),
          memory(std::move(to)),
          host(copied_by_host(*queue, *memory)) {}

    OpenClBackend& backend;
    const CommandId id;
    const std::shared_ptr<Queue> queue;
    const std::shared_ptr<Memory> memory;
    std::byte* const host;                // copied_by_host()
    std::byte* mapped = nullptr;          // where the range is written in place; null: it is not
    std::atomic<std::uint64_t> left = 0;  // bytes
    std::atomic<bool> finished = false;
    Handle<cl_event> end;
    CommandReports::Entry report;

    void need_less(std::uint64_t size) {
      if ((left -= size) == 0) finish(CL_COMPLETE);
    }
    void finish(cl_int status) {
      if (finished.exchange(true)) return;
      Handle<cl_event> unmapped;
      if (mapped != nullptr && host == nullptr &&
          clEnqueueUnmapMemObject(queue->native.get(), memory->native.get(), mapped, 0, nullptr,
                                  unmapped.put()) == CL_SUCCESS) {
        clFlush(queue->native.get());
        backend.watcher_.watch(unmapped, [self = shared_from_this(), status](cl_int result) {
          self->report_end(std::min(status, result));
        });
      } else {
        report_end(status);
      }
    }

   private:
    void report_end(cl_int status) {
      // No command of the driver begins when the first part comes, so that only the end is known.
      Times times{};
      if (queue->profiling && status == CL_COMPLETE)
        times.back() = static_cast<std::uint64_t>(backend.clock());
      backend.end_user_event(id, end, report, status, times);
    }
  };

  OpenClBackend& backend_;
  const std::uint64_t offset_;  // in the object
  const std::shared_ptr<Queue> queue_;
  const std::shared_ptr<Memory> memory_;
  const WaitList waits_;
  const std::shared_ptr<Progress> progress_;
};

std::unique_ptr<TransferSink> OpenClBackend::expect(protocol::Expect&& message) {
  const Command command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    const auto memory = memory_.expected(message);
    std::vector<cl_event> waits;
    std::vector<CommandReports::Entry> after;
    resolve(command.waits, waits, after);
    const Event& event = add_user_event(command, queue->context->native.get(), after);
    return std::make_unique<ExpectSink>(*this, message, queue, memory, std::move(waits), event.native,
                                        event.order);
  } catch (const ClError& error) {
    refuse(command, queue.get(), error);
    return nullptr;
  }
}

}  // namespace clique::daemon::opencl
