#include "daemon/server/file_desk.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace clique::daemon {

struct FileDesk::State {
  const Fd news{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::vector<Answer> done;  // guarded by the mutex

  void add(Answer answer) {
    const std::lock_guard lock(mutex);
    done.push_back(std::move(answer));
    constexpr std::uint64_t kOne = 1;
    static_cast<void>(::write(news.get(), &kOne, sizeof kOne));
  }
};

FileDesk::FileDesk() : state_(std::make_shared<State>()) {
  if (!state_->news) throw std::system_error(errno, std::generic_category(), "eventfd");
}

FileDesk::~FileDesk() = default;

void FileDesk::open(std::uint64_t number, const FileRoots& roots, FileRequest request) {
  const auto work = [state = state_, number, roots, request = std::move(request)] {
    Answer answer{number, {}, {Notice::Kind::File, ""}};
    try {
      answer.file = roots.open(request.path, request.access);
    } catch (const FileError& error) {
      answer.notice.text = error.what();
      answer.notice.status = static_cast<std::int32_t>(error.status());
    }
    state->add(std::move(answer));
  };
  try {
    std::thread(work).detach();
  } catch (const std::system_error& error) {
    Notice notice{Notice::Kind::File, std::string("the node cannot start a thread: ") + error.what()};
    notice.status = static_cast<std::int32_t>(protocol::FileStatus::IoError);
    state_->add({number, {}, std::move(notice)});
  }
}

int FileDesk::fd() const {
  return state_->news.get();
}

std::vector<FileDesk::Answer> FileDesk::done() {
  std::uint64_t count = 0;
  static_cast<void>(::read(state_->news.get(), &count, sizeof count));
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->done, {});
}

}  // namespace clique::daemon
