// Data from worker to worker: Push reads and sends, Expect receives and writes.
#include <algorithm>

#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

namespace {}  // namespace

/// A transfer on its way out. Chunks are read one after the other, a few ahead of what has been sent.
class OpenClBackend::PushJob : public std::enable_shared_from_this<PushJob> {
 public:
  /// @param content_size null where the message names none.
  PushJob(OpenClBackend& backend, protocol::Push message, std::shared_ptr<Queue> queue,
          std::shared_ptr<Memory> memory, std::shared_ptr<Memory> content_size, std::vector<cl_event> waits)
      : backend_(backend),
        message_(std::move(message)),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        content_size_(std::move(content_size)),
        waits_(std::move(waits)),
        keep_waits_(retained(waits_)),
        size_(message_.size),
        left_(size_) {}

  /// @param end the user event that stands for the whole; may be empty.
  void start(Handle<cl_event> end, ReportOrder::EntryRef report) {
    end_ = std::move(end);
    report_ = std::move(report);
    if (content_size_) {
      read_content_size();
    } else {
      read();
    }
  }

  /// Tells the peer that nothing comes.
  static void refuse(PeerLinks& peers, const protocol::Push& message, cl_int status) {
    peers.send(message.peer, protocol::PeerData{message.transfer, 0, status, {}});
  }

 private:
  void read_content_size() {
    const auto number = std::make_shared<std::array<std::uint8_t, 8>>();
    Handle<cl_event> read;
    const auto count = static_cast<cl_uint>(waits_.size());
    const cl_int status =
        clEnqueueReadBuffer(queue_->native.get(), content_size_->native.get(), CL_FALSE, 0, number->size(),
                            number->data(), count, waits_.empty() ? nullptr : waits_.data(), read.put());
    if (status != CL_SUCCESS) {
      fail(status);
      return;
    }
    backend_.entered(*queue_, read, count > 0);
    backend_.watcher_.watch(read, [self = shared_from_this(), number](cl_int result) {
      if (result < 0) {
        self->fail(result);
        return;
      }
      self->backend_.surroundings_.tasks.post([self, number] {
        self->cut(meant_size(self->message_, *number));
        self->read();
      });
    });
  }

  /// Before anything is read.
  void cut(std::uint64_t size) {
    if (size == size_) return;
    size_ = size;
    left_ = size;
    backend_.surroundings_.peers.send(message_.peer,
                                      protocol::PeerData{message_.transfer, message_.at + size, 0, {}});
  }

  void read() {
    const unsigned ahead = backend_.surroundings_.peers.chunks_ahead(message_.peer, protocol::kPartSize);
    for (unsigned i = 0; i < ahead; ++i) read_next();
  }

  void read_next() {
    if (next_ == size_ || failed_) return;
    const std::uint64_t offset = next_;
    const Block block = memory_->image ? block_at(memory_->shape, offset, protocol::kPartSize)
                                       : Block{{}, {}, std::min(protocol::kPartSize, size_ - offset)};
    next_ += block.size;
    auto data = backend_.surroundings_.peers.take(message_.peer, block.size);
    if (!data) data = backend_.staging_.take(block.size);
    Handle<cl_event> read;
    const auto count = static_cast<cl_uint>(waits_.size());
    const cl_event* waits = waits_.empty() ? nullptr : waits_.data();
    const cl_int status =
        memory_->image
            ? clEnqueueReadImage(queue_->native.get(), memory_->native.get(), CL_FALSE, block.origin.data(),
                                 block.region.data(), 0, 0, data.get(), count, waits, read.put())
            : clEnqueueReadBuffer(queue_->native.get(), memory_->native.get(), CL_FALSE,
                                  message_.offset + offset, block.size, data.get(), count, waits, read.put());
    if (status != CL_SUCCESS) {
      fail(status);
      return;
    }
    backend_.entered(*queue_, read, count > 0);
    backend_.watcher_.watch(read, [self = shared_from_this(), data, offset, size = block.size](
                                      cl_int result) { self->send(data, offset, size, result); });
  }

  /// On a thread of the driver.
  void send(const std::shared_ptr<std::byte>& data, std::uint64_t offset, std::uint64_t size, cl_int status) {
    if (status < 0) {
      fail(status);
      return;
    }
    // Sent, a chunk makes room for the next.
    const std::shared_ptr<const void> sent(data.get(), [self = shared_from_this(), data](const void*) {
      self->backend_.surroundings_.tasks.post([self] { self->read_next(); });
    });
    backend_.surroundings_.peers.send(
        message_.peer,
        protocol::PeerData{message_.transfer, message_.at + offset, 0, {{data.get(), size}, sent}});
    if ((left_ -= size) == 0 && !failed_ && end_)
      backend_.end_user_event(message_.command.id, end_, report_, CL_COMPLETE);
  }

  void fail(cl_int status) {
    if (failed_.exchange(true)) return;
    refuse(backend_.surroundings_.peers, message_, status);
    if (end_) backend_.end_user_event(message_.command.id, end_, report_, status);
  }

  OpenClBackend& backend_;
  const protocol::Push message_;
  const std::shared_ptr<Queue> queue_;
  const std::shared_ptr<Memory> memory_;
  const std::shared_ptr<Memory> content_size_;
  const std::vector<cl_event> waits_;
  const std::vector<Handle<cl_event>> keep_waits_;
  Handle<cl_event> end_;
  ReportOrder::EntryRef report_;
  std::uint64_t size_;      // main thread
  std::uint64_t next_ = 0;  // main thread
  std::atomic<std::uint64_t> left_;
  std::atomic<bool> failed_ = false;
};

void OpenClBackend::handle(protocol::Push&& message) {
  if (!surroundings_.peers.known(message.peer))
    throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
  const Command command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    const auto memory = memory_.get(message.object);
    check_transfer(message.offset, message.size, memory->size, memory->image, "a push");
    std::shared_ptr<Memory> content_size;
    if (message.content_size != 0) {
      content_size = memory_.get(message.content_size);
      check_content_size(message, memory->image, content_size->size, content_size->image);
    }
    std::vector<cl_event> waits;
    std::vector<ReportOrder::EntryRef> after;
    resolve(command.waits, waits, after);
    auto job =
        std::make_shared<PushJob>(*this, message, queue, memory, std::move(content_size), std::move(waits));
    Handle<cl_event> end;
    ReportOrder::EntryRef report;
    if ((command.flags & (Command::kEvent | Command::kReport)) != 0) {
      const Event& event = add_user_event(command.id, queue->context->native.get(),
                                          (command.flags & Command::kReport) != 0, std::move(after));
      end = event.native;
      report = event.order;
    }
    job->start(std::move(end), std::move(report));
  } catch (const ClError& error) {
    PushJob::refuse(surroundings_.peers, message, error.status());
    fail(command, queue, error);
  }
}

/// A transfer on its way in: ends the Expect command when all is written.
class OpenClBackend::ExpectSink : public TransferSink {
 public:
  ExpectSink(OpenClBackend& backend, protocol::Expect message, std::shared_ptr<Queue> queue,
             std::shared_ptr<Memory> memory, std::vector<cl_event> waits, Handle<cl_event> end,
             ReportOrder::EntryRef report)
      : backend_(backend),
        message_(std::move(message)),
        queue_(std::move(queue)),
        memory_(std::move(memory)),
        waits_(std::move(waits)),
        keep_waits_(retained(waits_)),
        progress_(std::make_shared<Progress>()) {
    progress_->left = message_.size;
    progress_->end = std::move(end);
    progress_->report = std::move(report);
  }

  void write(std::uint64_t offset, protocol::Payload data) override {
    if (progress_->finished) return;
    // Some drivers take commands that wait for a failed one, and never say a word of them.
    if (backend_.failures_seen_ &&
        std::any_of(waits_.begin(), waits_.end(), [](cl_event wait) { return status_of(wait) < 0; })) {
      fail(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
      return;
    }
    const auto count = static_cast<cl_uint>(waits_.size());
    const cl_event* waits = waits_.empty() ? nullptr : waits_.data();
    Handle<cl_event> written;
    cl_int status = CL_SUCCESS;
    if (memory_->image) {
      const Block block = block_at(memory_->shape, offset, data.bytes.size());
      status = block.size != data.bytes.size()
                   ? CL_INVALID_VALUE
                   : clEnqueueWriteImage(queue_->native.get(), memory_->native.get(), CL_FALSE,
                                         block.origin.data(), block.region.data(), 0, 0, data.bytes.data(),
                                         count, waits, written.put());
    } else {
      status = clEnqueueWriteBuffer(queue_->native.get(), memory_->native.get(), CL_FALSE,
                                    message_.offset + offset, data.bytes.size(), data.bytes.data(), count,
                                    waits, written.put());
    }
    if (status != CL_SUCCESS) {
      fail(status);
      return;
    }
    backend_.entered(*queue_, written, count > 0);
    backend_.watcher_.watch(
        written, [&backend = backend_, id = message_.command.id, progress = progress_, data](cl_int result) {
          if (result < 0) {
            progress->finish(backend, id, result);
          } else if ((progress->left -= data.bytes.size()) == 0) {
            progress->finish(backend, id, CL_COMPLETE);
          }
        });
  }

  void come_short(std::uint64_t size) override {
    if ((progress_->left -= size) == 0) progress_->finish(backend_, message_.command.id, CL_COMPLETE);
  }
  void fail(std::int32_t status) override { progress_->finish(backend_, message_.command.id, status); }
  bool divisible() const override { return !memory_->image; }

 private:
  /// Outlives the sink: the last writes end after the last data came.
  struct Progress {
    std::atomic<std::uint64_t> left;
    std::atomic<bool> finished = false;
    Handle<cl_event> end;
    ReportOrder::EntryRef report;

    void finish(OpenClBackend& backend, CommandId id, cl_int status) {
      if (!finished.exchange(true)) backend.end_user_event(id, end, report, status);
    }
  };

  OpenClBackend& backend_;
  const protocol::Expect message_;
  const std::shared_ptr<Queue> queue_;
  const std::shared_ptr<Memory> memory_;
  const std::vector<cl_event> waits_;
  const std::vector<Handle<cl_event>> keep_waits_;
  const std::shared_ptr<Progress> progress_;
};

std::unique_ptr<TransferSink> OpenClBackend::expect(protocol::Expect&& message) {
  const Command command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    const auto memory = memory_.get(message.object);
    check_transfer(message.offset, message.size, memory->size, memory->image, "an expected transfer");
    std::vector<cl_event> waits;
    std::vector<ReportOrder::EntryRef> after;
    resolve(command.waits, waits, after);
    const Event& event = add_user_event(command.id, queue->context->native.get(),
                                        (command.flags & Command::kReport) != 0, std::move(after));
    return std::make_unique<ExpectSink>(*this, std::move(message), queue, memory, std::move(waits),
                                        event.native, event.order);
  } catch (const ClError& error) {
    fail(command, queue, error);
    return nullptr;
  }
}

}  // namespace clique::daemon::opencl
