#include "daemon/server/connections/file_desk.hpp"

#include <system_error>
#include <thread>
#include <utility>

namespace clique::daemon {

void FileDesk::open(std::uint64_t number, const FileRoots& roots, FileRequest request) {
  const auto work = [answers = answers_, number, roots, request = std::move(request)] {
    Answer answer{number, {}, {Notice::Kind::File, ""}};
    try {
      answer.file = roots.open(request.path, request.access, request.direct);
    } catch (const FileError& error) {
      answer.notice.text = error.what();
      answer.notice.status = static_cast<std::int32_t>(error.status());
    }
    answers->add(std::move(answer));
  };
  try {
    std::thread(work).detach();
  } catch (const std::system_error& error) {
    Notice notice{Notice::Kind::File, std::string("the node cannot start a thread: ") + error.what()};
    notice.status = static_cast<std::int32_t>(protocol::FileStatus::IoError);
    answers_->add({number, {}, std::move(notice)});
  }
}

std::vector<FileDesk::Answer> FileDesk::done() {
  return answers_->take();
}

}  // namespace clique::daemon
