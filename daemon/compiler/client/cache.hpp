// Results that are worth keeping, on disk: what is compiled once starts at once the next time, in any process
// of the user and on every node that shares the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/messages.hpp"

namespace clique::daemon::compiler {

/// Names an entry: a hash of everything that decides its content.
struct CacheKey {
  std::uint64_t high = 0, low = 0;
  bool operator==(const CacheKey&) const = default;
  std::string text() const;
};

/// Hashes parts one after the other, with their sizes.
class CacheKeyBuilder {
 public:
  CacheKeyBuilder();
  ~CacheKeyBuilder();
  CacheKeyBuilder(const CacheKeyBuilder&) = delete;
  CacheKeyBuilder& operator=(const CacheKeyBuilder&) = delete;

  CacheKeyBuilder& add(std::string_view part);
  CacheKeyBuilder& add(std::span<const std::uint8_t> part);
  CacheKey key() const;

 private:
  void* state_;
};

/// Any number of processes may use one folder at the same time. One that cannot be read or written is as good
/// as none: there are no errors. Not thread-safe: each thread has one of its own.
class Cache {
 public:
  static constexpr std::uint64_t kDefaultLimit = 1ULL << 30U;

  /// @param folder made when the first entry is; empty: nothing is kept
  /// @param limit bytes; beyond it the entries that were not used for longest are removed
  explicit Cache(std::string folder, std::uint64_t limit = kDefaultLimit);

  /// What the environment says: off where CLIQUE_CACHE is 0; in $CLIQUE_CACHE_DIR, else in clique/programs of
  /// $XDG_CACHE_HOME or ~/.cache; of $CLIQUE_CACHE_MIB.
  static Cache from_environment();

  /// An entry that is damaged counts as missing, and is removed.
  std::optional<protocol::Bytes> get(const CacheKey& key) const;
  void put(const CacheKey& key, std::span<const std::uint8_t> bytes);

  const std::string& folder() const { return folder_; }

 private:
  void make_room();

  std::string folder_;
  std::uint64_t limit_;
  std::uint64_t used_ = 0;  ///< about
  bool counted_ = false;
};

}  // namespace clique::daemon::compiler
