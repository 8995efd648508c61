#include "daemon/worker/transfers/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/common/log.hpp"
#include "protocol/limits.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

using protocol::FileStatus;

/// Files that a session may have open. Each takes a descriptor of the worker.
constexpr std::size_t kMostFiles = 4096;
/// Reads of files that are under way at a time. Each keeps parts in memory; and more readers than this make a
/// disk seek, or wait for each other.
constexpr unsigned kMostReading = 4;
/// CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
constexpr std::int32_t kWaitFailed = -14;
/// CL_MAP_FAILURE
constexpr std::int32_t kMapFailed = -12;

void check_range(std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t kEnd = std::numeric_limits<off_t>::max();
  if (size == 0 || size > kEnd || offset > kEnd - size)
    throw RuleBroken("a range of " + std::to_string(size) + " bytes at " + std::to_string(offset) +
                     " of a file is empty, or ends beyond the largest file");
}

bool same_file(const Fd& one, const Fd& other) {
  struct stat first{}, second{};
  return ::fstat(one.get(), &first) == 0 && ::fstat(other.get(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

/// A file that the client has opened. What is read or written keeps it, after the client has released it.
struct Files::File {
  protocol::ObjectId id = 0;
  protocol::ObjectId context = 0;
  std::string path;
  std::uint8_t access = 0;
  bool known = false;  ///< whether the members below say what has become of it
  Fd descriptor = {};
  std::unique_ptr<DirectFile> direct = {};  ///< for the device; null: it does not read the file itself
  std::optional<FileError> failure = {};
  std::vector<std::function<void()>> waiting = {};  ///< until it is known
  /// File systems let one thread at a time write to a file, and the others spin meanwhile.
  std::shared_ptr<FileTurns> writing = {};

  /// Throws FileError unless it is open for this.
  void require(std::uint8_t wanted) const {
    if (failure) throw FileError(*failure);
    if ((access & wanted) == 0)
      throw FileError(FileStatus::AccessDenied, wanted == protocol::file_access::kRead
                                                    ? "the program has opened it for writing only"
                                                    : "the program has opened it for reading only");
  }
};

/// A file on its way to a transfer. Its parts are read by several threads, a few ahead of what has been
/// taken.
class Files::ReadJob : public std::enable_shared_from_this<ReadJob> {
 public:
  ReadJob(Files& files, FileRef file, const protocol::ReadFile& message)
      : files_(files), file_(std::move(file)), message_(message), waits_left_(message.command.waits.size()) {}

  /// Any thread. @param status of a command that the read waits for
  void wait_ended(std::int32_t status) {
    if (status < 0) wait_failed_ = true;
    if (--waits_left_ == 0) ready();
  }
  /// The read may begin when the file is known. Any thread.
  void ready() {
    files_.surroundings_.tasks.post([self = shared_from_this()] {
      when_known(self->file_, [self] {
        self->files_.reads_.push_back(self);
        self->files_.start_reads();
      });
    });
  }

  /// Main thread.
  void start() {
    // Released when all parts that were sent have been taken: no part may arrive after the news of a failure.
    const std::shared_ptr<const void> turn(this, [self = shared_from_this()](const void*) { self->end(); });
    if (wait_failed_) {
      status_ = kWaitFailed;
      return;
    }
    try {
      file_->require(protocol::file_access::kRead);
    } catch (const FileError& error) {
      fail(error);
      return;
    }
    const unsigned ahead = files_.surroundings_.peers.chunks_ahead(message_.peer, protocol::kPartSize);
    const bool own = message_.peer == protocol::kOwnPeer;
    const bool directly = own && file_->direct;
    directly_ = directly;
    // Parts end where pages of the file do.
    if (directly) skew_ = message_.offset % DirectFile::kPage;
    const auto begin = [self = shared_from_this(), turn, ahead] {
      for (unsigned i = 0; i < ahead; ++i) self->post_next(turn);
    };
    auto in_place = [self = shared_from_this(), begin](std::shared_ptr<std::byte> place) {
      self->place_ = std::move(place);
      if (self->place_)
        begin();
      else
        self->status_ = kMapFailed;
    };
    const auto writer = directly ? TransferSink::Writer::Device : TransferSink::Writer::Process;
    const bool mapped =
        own && files_.transfers_->map(message_.transfer, message_.size, writer, std::move(in_place));
    if (mapped) return;
    directly_ = false;
    begin();
  }

 private:
  /// Has a thread read the next part, if there is one. Any thread.
  /// @param turn what keeps other reads waiting
  void post_next(std::shared_ptr<const void> turn) {
    const std::uint64_t from = next_.fetch_add(protocol::kPartSize);
    if (from >= skew_ + message_.size || status_ < 0) return;
    const std::uint64_t begin = std::max(from, skew_) - skew_;
    const std::uint64_t end = std::min(from + protocol::kPartSize, skew_ + message_.size) - skew_;
    files_.threads_.post([self = shared_from_this(), begin, end, turn = std::move(turn)]() mutable {
      self->read(begin, end, std::move(turn));
    });
  }

  /// Reads the bytes [begin, end) of the transfer, and sends them.
  void read(std::uint64_t begin, std::uint64_t end, std::shared_ptr<const void> turn) {
    // When all of them have been taken, the next part is read.
    const std::shared_ptr<const void> taken(
        this, [self = shared_from_this(), turn = std::move(turn)](const void*) mutable {
          self->post_next(std::move(turn));
        });
    try {
      if (place_ && directly_)
        read_directly(begin, end, taken);
      else if (place_)
        read_in_place(begin, end);
      else
        read_into_block(begin, end, taken);
    } catch (const FileError& error) {
      fail(error);
    } catch (const std::exception& error) {
      fail(FileError(FileStatus::IoError, error.what()));
    }
  }

  void read_in_place(std::uint64_t begin, std::uint64_t end) {
    fill({place_.get() + begin, static_cast<std::size_t>(end - begin)}, message_.offset + begin);
    send_in_place(begin, end);
  }

  void read_into_block(std::uint64_t begin, std::uint64_t end, std::shared_ptr<const void> taken) {
    if (begin == end) return;
    const auto size = static_cast<std::size_t>(end - begin);
    PeerLinks& peers = files_.surroundings_.peers;
    std::shared_ptr<std::byte> block = peers.take(message_.peer, size);
    if (!block) block = files_.backend_.memory_for_part(size);
    fill({block.get(), size}, message_.offset + begin);
    const std::byte* const bytes = block.get();
    // The block is free before the next part needs one.
    std::shared_ptr<const void> sent(
        bytes, [block = std::move(block), taken = std::move(taken)](const void*) mutable {
          block.reset();
          taken.reset();
        });
    if (status_ == 0)
      peers.send(message_.peer,
                 protocol::PeerData{message_.transfer, begin, 0, {{bytes, size}, std::move(sent)}});
  }

  /// Has the device read the whole pages. What it does not read comes in blocks: what is beside them, and
  /// what it is unable to read, of which reading in the usual way finds out the reason.
  void read_directly(std::uint64_t begin, std::uint64_t end, const std::shared_ptr<const void>& taken) {
    constexpr std::uint64_t page = DirectFile::kPage;
    const std::uint64_t position = (message_.offset + begin + page - 1) / page * page;  // in the file
    const std::uint64_t last = (message_.offset + end) / page * page;
    if (position >= last) {
      read_into_block(begin, end, taken);
      return;
    }
    const std::uint64_t first = position - message_.offset;
    std::uint64_t done = first;
    try {
      done += file_->direct->read(place_.get() + first, static_cast<std::size_t>(last - position), position);
    } catch (const std::runtime_error& error) {
      directly_ = false;
      files_.note_refusal(*file_, error.what());
    }
    if (done > first) send_in_place(first, done);
    read_into_block(begin, first, taken);
    read_into_block(done, end, taken);
  }

  /// The bytes [begin, end) are where they belong.
  void send_in_place(std::uint64_t begin, std::uint64_t end) {
    files_.surroundings_.peers.send(
        message_.peer,
        protocol::PeerData{message_.transfer,
                           begin,
                           0,
                           {{place_.get() + begin, static_cast<std::size_t>(end - begin)}, place_}});
  }

  void fill(std::span<std::byte> to, std::uint64_t offset) const {
    while (!to.empty()) {
      const ssize_t size = ::pread(file_->descriptor.get(), to.data(), to.size(), static_cast<off_t>(offset));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw FileError(errno);
      if (size == 0)
        throw FileError(FileStatus::End, "it has no byte " + std::to_string(offset) + ", and " +
                                             std::to_string(message_.size) + " from byte " +
                                             std::to_string(message_.offset) + " on are to be read");
      to = to.subspan(static_cast<std::size_t>(size));
      offset += static_cast<std::uint64_t>(size);
    }
  }

  /// Any thread.
  void fail(const FileError& error) {
    std::int32_t none = 0;
    if (status_.compare_exchange_strong(none, static_cast<std::int32_t>(error.status())))
      files_.explain(*file_, "read", error);
  }

  /// Any thread.
  void end() const {
    if (status_ < 0)
      files_.surroundings_.peers.send(message_.peer, protocol::PeerData{message_.transfer, 0, status_, {}});
    files_.surroundings_.tasks.post([&files = files_] {
      --files.reading_;
      files.start_reads();
    });
  }

  Files& files_;
  const FileRef file_;
  const protocol::ReadFile message_;
  std::atomic<std::size_t> waits_left_;
  std::atomic<bool> wait_failed_ = false;
  std::shared_ptr<std::byte> place_;      // where the content goes on this node's device; null: in blocks
  std::atomic<std::int32_t> status_ = 0;  // negative once it has failed
  std::atomic<bool> directly_ = false;    // whether the device reads into `place_`
  // Positions in the transfer, from the beginning of the page in which it begins if the device reads it.
  std::uint64_t skew_ = 0;               // of the first byte
  std::atomic<std::uint64_t> next_ = 0;  // of the first byte that no thread reads yet
};

/// Content on its way into a file. Outlives its Sink, since the last parts are written after they have all
/// come.
class Files::WriteJob : public std::enable_shared_from_this<WriteJob> {
 public:
  WriteJob(Files& files, FileRef file, const protocol::WriteFile& message)
      : files_(files), file_(std::move(file)), message_(message), left_(message.size) {}

  /// Main thread.
  void write(std::uint64_t at, protocol::Payload data) {
    when_known(file_, [self = shared_from_this(), at, data = std::move(data)] {
      if (self->ended_) return;
      try {
        self->file_->require(protocol::file_access::kWrite);
      } catch (const FileError& error) {
        self->fail(error);
        return;
      }
      self->file_->writing->post([self, at, data] { self->put(data.bytes, self->message_.offset + at); });
    });
  }
  /// So many bytes have been written, or have no meaning. Any thread.
  void need_less(std::uint64_t size) {
    if ((left_ -= size) == 0) end(0);
  }
  void fail(const FileError& error) { end(static_cast<std::int32_t>(error.status()), &error); }
  /// Ends the command, unless it has ended. Any thread.
  void end(std::int32_t status, const FileError* why = nullptr) {
    if (ended_.exchange(true)) return;
    if (why != nullptr) files_.explain(*file_, "written", *why);
    files_.surroundings_.tasks.post([self = shared_from_this(), status] {
      // In this order: the client has to know of this end before it learns of one that follows it.
      Reporter& reporter = self->files_.surroundings_.reporter;
      const protocol::CommandId id = self->message_.command.id;
      reporter.add(protocol::EventState{id, status, {}});
      self->files_.backend_.set_remote(id, status);
      reporter.flush();
    });
  }

 private:
  void put(std::span<const std::byte> from, std::uint64_t offset) {
    const std::uint64_t all = from.size();
    while (!from.empty() && !ended_) {
      const ssize_t size =
          ::pwrite(file_->descriptor.get(), from.data(),
                   std::min<std::size_t>(from.size(), protocol::kPartSize), static_cast<off_t>(offset));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) {
        fail(FileError(errno));
        return;
      }
      from = from.subspan(static_cast<std::size_t>(size));
      offset += static_cast<std::uint64_t>(size);
    }
    need_less(all);
  }

  Files& files_;
  const FileRef file_;
  const protocol::WriteFile message_;
  std::atomic<std::uint64_t> left_;  // bytes
  std::atomic<bool> ended_ = false;
};

class Files::Sink final : public TransferSink {
 public:
  explicit Sink(std::shared_ptr<WriteJob> job) : job_(std::move(job)) {}

  void write(std::uint64_t offset, protocol::Payload data) override { job_->write(offset, std::move(data)); }
  void come_short(std::uint64_t size) override { job_->need_less(size); }
  void fail(std::int32_t status) override { job_->end(status); }
  bool divisible() const override { return false; }

 private:
  const std::shared_ptr<WriteJob> job_;
};

Files::Files(const Surroundings& surroundings, Backend& backend, Ask ask)
    : surroundings_(surroundings), backend_(backend), ask_(std::move(ask)) {}

Files::~Files() {
  // What waits for a file keeps it.
  for (const FileRef& file : unanswered_) file->waiting.clear();
}

const Files::FileRef& Files::get(protocol::ObjectId id) const {
  const auto found = files_.find(id);
  if (found == files_.end()) throw RuleBroken("file " + std::to_string(id) + " does not exist");
  return found->second;
}

void Files::when_known(const FileRef& file, std::function<void()> action) {
  if (file->known)
    action();
  else
    file->waiting.push_back(std::move(action));
}

void Files::explain(const File& file, const char* verb, const FileError& error) const {
  surroundings_.reporter.report(
      protocol::Failed{file.id, static_cast<std::int32_t>(error.status()),
                       fmt::format("the file {} cannot be {}: {}",
                                   protocol::in_quotes(protocol::printable(file.path)), verb, error.what()),
                       0});
}

void Files::open(protocol::CreateFile&& message) {
  if (message.id == 0 || files_.contains(message.id))
    throw RuleBroken("file " + std::to_string(message.id) + " cannot be created: its id is 0 or in use");
  if (message.path.size() > protocol::kMaxPath)
    throw RuleBroken("the path of file " + std::to_string(message.id) + " has more than " +
                     std::to_string(protocol::kMaxPath) + " bytes");
  const auto file =
      std::make_shared<File>(File{message.id, message.context, std::move(message.path), message.access});
  file->writing = std::make_shared<FileTurns>(threads_);
  files_.emplace(message.id, file);
  if (files_.size() > kMostFiles) {
    file->known = true;
    file->failure.emplace(FileStatus::IoError, "the program has more than " + std::to_string(kMostFiles) +
                                                   " files open on this node; release some");
    return;
  }
  unanswered_.push_back(file);
  if (unanswered_.size() == 1) ask_next();
}

void Files::ask_next() {
  if (!unanswered_.empty()) ask_({unanswered_.front()->path, unanswered_.front()->access});
}

void Files::opened(const Notice& answer, Fd descriptor) {
  // Nobody but this process's starter could send more answers than questions.
  if (unanswered_.empty()) return;
  const FileRef file = unanswered_.front();
  if (file->descriptor) {
    open_direct(file, std::move(descriptor), answer.text);
    return;
  }
  if (descriptor)
    file->descriptor = std::move(descriptor);
  else
    file->failure.emplace(static_cast<FileStatus>(answer.status), answer.text);
  if (!file->descriptor || (file->access & protocol::file_access::kRead) == 0 ||
      surroundings_.cufile == CuFileUse::Never) {
    make_known();
    return;
  }
  threads_.post([this] {
    const bool reads = backend_.reads_files();
    surroundings_.tasks.post([this, reads] {
      if (reads)
        ask_({unanswered_.front()->path, protocol::file_access::kRead, true});
      else
        make_known();
    });
  });
}

void Files::open_direct(const FileRef& file, Fd descriptor, const std::string& failure) {
  // Where the file system knows no O_DIRECT, cuFile may copy.
  if (!descriptor && surroundings_.cufile == CuFileUse::Always)
    descriptor = Fd(::fcntl(file->descriptor.get(), F_DUPFD_CLOEXEC, 0));
  // Somebody may have put another file in its place.
  if (!descriptor || !same_file(descriptor, file->descriptor)) {
    note_refusal(*file, descriptor ? "another file has taken its place"
                                   : "it cannot be opened with O_DIRECT: " + failure);
    make_known();
    return;
  }
  threads_.post([this, file, shared = std::make_shared<Fd>(std::move(descriptor))] {
    try {
      file->direct = backend_.open_direct(std::move(*shared));
    } catch (const std::runtime_error& error) {
      note_refusal(*file, error.what());
    }
    surroundings_.tasks.post([this] { make_known(); });
  });
}

void Files::make_known() {
  const FileRef file = std::move(unanswered_.front());
  unanswered_.pop_front();
  file->known = true;
  for (const auto& action : std::exchange(file->waiting, {})) action();
  ask_next();
}

void Files::note_refusal(const File& file, const std::string& why) {
  const std::string line = fmt::format("the GPU does not read the file {} itself: {}",
                                       protocol::in_quotes(protocol::printable(file.path)), why);
  // Clients choose the files, and must not fill the log.
  if (!refused_.exchange(true))
    spdlog::info("{}", line);
  else
    spdlog::debug("{}", line);
}

void Files::query(const protocol::QueryFile& message) {
  const FileRef& file = get(message.file);
  when_known(file, [this, file, request = message.request] {
    protocol::FileAnswer answer;
    answer.request = request;
    try {
      if (file->failure) throw FileError(*file->failure);
      struct stat state{};
      if (::fstat(file->descriptor.get(), &state) != 0) throw FileError(errno);
      answer.size = static_cast<std::uint64_t>(state.st_size);
      answer.block_size = static_cast<std::uint32_t>(state.st_blksize);
    } catch (const FileError& error) {
      answer.status = static_cast<std::int32_t>(error.status());
      answer.failure = error.what();
    }
    surroundings_.reporter.report(answer);
  });
}

void Files::read(protocol::ReadFile&& message) {
  check_range(message.offset, message.size);
  if (!surroundings_.peers.known(message.peer))
    throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
  const auto job = std::make_shared<ReadJob>(*this, get(message.file), message);
  if (message.command.waits.empty()) job->ready();
  for (const protocol::CommandId wait : message.command.waits)
    backend_.when_ended(wait, [job](std::int32_t status) { job->wait_ended(status); });
}

void Files::start_reads() {
  while (reading_ < kMostReading && !reads_.empty()) {
    const std::shared_ptr<ReadJob> job = std::move(reads_.front());
    reads_.pop_front();
    ++reading_;
    job->start();
  }
}

std::unique_ptr<TransferSink> Files::write(const protocol::WriteFile& message) {
  check_range(message.offset, message.size);
  const FileRef& file = get(message.file);
  backend_.handle(protocol::AwaitRemote{message.command.id, file->context});
  return std::make_unique<Sink>(std::make_shared<WriteJob>(*this, file, message));
}

}  // namespace clique::daemon
