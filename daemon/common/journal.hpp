#pragma once

#include <optional>
#include <string>
#include <vector>

struct iovec;

namespace clique::daemon {

/// systemd's journal, through libsystemd, which is opened at run time: hosts without systemd have neither.
class Journal {
 public:
  /// The journal, if standard error goes there and libsystemd can be opened.
  static std::optional<Journal> open();

  /// Adds an entry. @param fields NAME=VALUE each. @returns false if the journal does not take it
  bool send(const std::vector<std::string>& fields) const;

 private:
  using Send = int (*)(const iovec* fields, int count);
  explicit Journal(Send send) : send_(send) {}

  Send send_;
};

}  // namespace clique::daemon
