#include "icd/core/objects/file.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "icd/core/objects/context.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/batch.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages.hpp"
#include "protocol/printable.hpp"

namespace clique::icd {

namespace {

static_assert(CL_FILE_READ_CLIQUE == protocol::file_access::kRead &&
              CL_FILE_WRITE_CLIQUE == protocol::file_access::kWrite &&
              CL_FILE_CREATE_CLIQUE == protocol::file_access::kCreate);
static_assert(CL_FILE_NOT_FOUND_CLIQUE == static_cast<cl_int>(protocol::FileStatus::NotFound) &&
              CL_FILE_ACCESS_DENIED_CLIQUE == static_cast<cl_int>(protocol::FileStatus::AccessDenied) &&
              CL_FILE_NOT_REGULAR_CLIQUE == static_cast<cl_int>(protocol::FileStatus::NotRegular) &&
              CL_FILE_END_CLIQUE == static_cast<cl_int>(protocol::FileStatus::End) &&
              CL_FILE_NO_SPACE_CLIQUE == static_cast<cl_int>(protocol::FileStatus::NoSpace) &&
              CL_FILE_IO_ERROR_CLIQUE == static_cast<cl_int>(protocol::FileStatus::IoError));

using protocol::in_quotes;

Worker& worker_of(const Context& context, const std::string& node) {
  std::set<std::string> names;
  for (Worker* worker : context.workers()) {
    if (worker->node().name() == node) return *worker;
    names.insert(worker->node().name());
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  throw Error(CL_INVALID_VALUE, "the path names node ", in_quotes(node),
              ", of which the context has no device; it has devices of ", list,
              ". Write ./ before a relative path that contains a colon");
}

}  // namespace

File::Name File::parse(const std::string& text) {
  require(!text.empty() && text.size() <= protocol::kMaxPath, CL_INVALID_VALUE, "path has ", text.size(),
          " bytes; allowed are 1 to ", protocol::kMaxPath);
  Name name{{}, text};
  const auto colon = text.find(':');
  if (colon != std::string::npos && colon > 0 && text.find('/') > colon)
    name = {text.substr(0, colon), text.substr(colon + 1)};
  const std::filesystem::path path(name.path);
  if (path.is_absolute()) return name;
  require(name.node.empty(), CL_INVALID_VALUE, "path is ", in_quotes(text),
          "; on a node it has to be absolute: ", in_quotes(name.node + ":/" + name.path));
  std::error_code error;
  name.path = std::filesystem::absolute(path, error).lexically_normal().string();
  require(!error, CL_INVALID_VALUE, "path is ", in_quotes(text),
          ", which is relative to the working directory, and that cannot be found: ", error.message());
  return name;
}

File::File(Ref<Context> context, cl_file_flags_clique flags, Name name)
    : context_(std::move(context)), flags_(flags), name_(std::move(name)) {
  if (!name_.node.empty()) worker_ = &worker_of(*context_, name_.node);
}

File::~File() {
  for (Worker* worker : opened_on_) worker->release_object(id_);
}

Worker& File::serving(Worker& worker) const {
  return worker_ == nullptr || &worker_->node() == &worker.node() ? worker : *worker_;
}

void File::ensure_on(Worker& worker) {
  // Posted under the lock: a thread that finds the worker in the list may use the file in its next message.
  const std::lock_guard lock(mutex_);
  if (std::find(opened_on_.begin(), opened_on_.end(), &worker) != opened_on_.end()) return;
  worker.link().post(
      protocol::CreateFile{id_, context_->id(), name_.path, static_cast<std::uint8_t>(flags_)});
  opened_on_.push_back(&worker);
}

std::uint64_t File::size() {
  Worker& worker = worker_ != nullptr ? *worker_ : *context_->workers().front();
  ensure_on(worker);
  const auto answer =
      worker.link().request<protocol::FileAnswer>(protocol::QueryFile{0, id_}, Link::kAnswerTimeout);
  if (answer.status != 0 || !answer.failure.empty())
    throw Error(protocol::is_file_status(answer.status) ? answer.status : CL_FILE_IO_ERROR_CLIQUE,
                "the file ", in_quotes(name_.path), " on node ", worker.node().name(), ": ",
                protocol::printable(answer.failure));
  return answer.size;
}

}  // namespace clique::icd
