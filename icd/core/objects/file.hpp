#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/include/CL/cl_ext_clique.h"
#include "protocol/ids.hpp"

namespace clique::icd {

class Context;
class Worker;

/// cl_clique_file: a file of one node, or a path that every node opens by itself. Any thread.
class File final : public Object<_cl_file_clique, Kind::File, CL_INVALID_FILE_CLIQUE> {
 public:
  /// What the application names: `NODE:PATH`, or a path alone, which is relative to the application's working
  /// directory unless it is absolute.
  struct Name {
    std::string node;  ///< empty: every node
    std::string path;  ///< absolute
  };
  /// Throws Error(CL_INVALID_VALUE) with the reason.
  static Name parse(const std::string& text);

  /// Opens nothing yet. Throws Error(CL_INVALID_VALUE) if no device of the context belongs to the node.
  File(Ref<Context> context, cl_file_flags_clique flags, Name name);
  ~File() override;

  protocol::ObjectId id() const { return id_; }
  const Ref<Context>& context() const { return context_; }
  cl_file_flags_clique flags() const { return flags_; }
  const Name& name() const { return name_; }

  /// The worker that reads and writes the file for commands on `worker`: that worker, unless the file is
  /// another node's.
  Worker& serving(Worker& worker) const;
  /// Opens the file on the worker, if it is not open there. Any thread; not within Link::compose.
  void ensure_on(Worker& worker);
  /// The size of the file on its node, or on that of the context's first device, at this moment, in bytes.
  /// Waits for the node. Throws Error with the status of a file that cannot be opened.
  std::uint64_t size();

 private:
  protocol::ObjectId id_ = next_id();
  Ref<Context> context_;
  cl_file_flags_clique flags_;
  Name name_;
  Worker* worker_ = nullptr;  ///< one of its node; null: every node has it
  std::mutex mutex_;
  std::vector<Worker*> opened_on_;
};

}  // namespace clique::icd
