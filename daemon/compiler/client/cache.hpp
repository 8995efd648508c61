// A cache on disk for the results of compiling. A program that was compiled once is ready at once the next
// time, in any process of the user and on every node that shares the folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/digest.hpp"
#include "protocol/payload.hpp"

namespace clique::daemon::compiler {

/// The name of an entry: a digest of everything that determines its content. The users of a node share the
/// cache, so none of them may be able to make a program with another one's key.
struct CacheKey {
  protocol::Digest digest{};
  bool operator==(const CacheKey&) const = default;
  /// 64 hexadecimal digits.
  std::string text() const { return protocol::text_of(digest); }
};

/// Makes a key of several parts. The order and size of the parts matter.
class CacheKeyBuilder {
 public:
  CacheKeyBuilder& add(std::string_view part);
  CacheKeyBuilder& add(std::span<const std::uint8_t> part);
  /// To be called once, last.
  CacheKey key() { return {digest_.digest()}; }

 private:
  protocol::DigestBuilder digest_;
};

/// Any number of processes may use the same folder at the same time. There are no errors: a folder that
/// cannot be read or written is the same as no cache. Not thread-safe; each thread has a Cache of its own.
class Cache {
 public:
  static constexpr std::uint64_t kDefaultLimit = 1ULL << 30U;

  /// @param folder created with the first entry; empty: keep nothing
  /// @param limit in bytes; beyond it, the least recently used entries are removed
  explicit Cache(std::string folder, std::uint64_t limit = kDefaultLimit);

  /// The cache that the environment configures: none if CLIQUE_CACHE is 0; otherwise the folder
  /// $CLIQUE_CACHE_DIR, or clique/programs in $XDG_CACHE_HOME or ~/.cache, with a limit of $CLIQUE_CACHE_MIB
  /// MiB.
  static Cache from_environment();

  /// The bytes that put() stored under `key`. A damaged entry is removed and counts as missing.
  std::optional<protocol::Bytes> get(const CacheKey& key) const;
  /// Stores an entry, unless it is larger than a quarter of the limit. Readers see all of it or nothing.
  void put(const CacheKey& key, std::span<const std::uint8_t> bytes);

  const std::string& folder() const { return folder_; }

 private:
  /// Counts the folder's files and removes the oldest while they exceed the limit.
  void make_room();

  std::string folder_;
  std::uint64_t limit_;
  std::uint64_t used_ = 0;  ///< bytes, approximately: other processes write, too
  bool counted_ = false;    ///< whether `used_` includes the files that were there before
};

}  // namespace clique::daemon::compiler
