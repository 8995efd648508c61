// Random kernels for the tests of division: as source, and executed here work-item by work-item, so that a
// test knows which bytes each of them uses.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "protocol/footprint.hpp"

namespace clique::test::division {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most - least) + 1));
  }
  bool percent(unsigned chance) { return below(100) < chance; }
  template <typename List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

enum class Type : std::uint8_t { Int, UInt, Long, ULong };

/// The scalar arguments of every kernel: int, int, uint, long.
struct Scalars {
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::uint32_t c = 0;
  std::int64_t d = 0;
};

/// One work-item of a launch.
struct Item {
  unsigned dimensions = 1;
  std::array<std::uint64_t, 3> global{};  ///< ids
  std::array<std::uint64_t, 3> local{};
  std::array<std::uint64_t, 3> group{};
  std::array<std::uint64_t, 3> offset{};
  std::array<std::uint64_t, 3> global_size{1, 1, 1};
  std::array<std::uint64_t, 3> local_size{1, 1, 1};     ///< of this group
  std::array<std::uint64_t, 3> enqueued_size{1, 1, 1};  ///< of a whole group
  std::array<std::uint64_t, 3> groups{1, 1, 1};
};

/// The program does what OpenCL C leaves undefined, or takes too long: the launch is no test.
struct Undefined {};

constexpr unsigned kBuffers = 3;
/// Of kernels that use images: one that they read and write, and one that they read.
constexpr unsigned kImages = 2;
/// Arguments that are memory objects: buffers, then images.
constexpr unsigned kMemoryArguments = kBuffers + kImages;

/// Images of one type. A kernel uses one kind.
struct ImageKind {
  const char* type;                     ///< in OpenCL C
  unsigned dimensions;                  ///< coordinates
  std::array<std::uint64_t, 3> extent;  ///< in pixels
  unsigned channels;                    ///< 1 or 4, unsigned integers
  unsigned channel_size;                ///< bytes
  bool in_buffer;                       ///< whether the image is a view of a buffer, which has no samplers

  constexpr std::uint64_t pixel_size() const { return channels * channel_size; }
};
inline constexpr ImageKind kImageKinds[] = {
    {"image1d_t", 1, {400, 1, 1}, 1, 4, false}, {"image1d_array_t", 2, {28, 24, 1}, 1, 1, false},
    {"image2d_t", 2, {40, 26, 1}, 4, 4, false}, {"image2d_array_t", 3, {16, 10, 7}, 4, 1, false},
    {"image3d_t", 3, {14, 9, 7}, 4, 2, false},  {"image1d_buffer_t", 1, {2048, 1, 1}, 1, 4, true},
};

/// What the executing test does with accesses to buffers.
class Store {
 public:
  virtual ~Store() = default;
  /// Throws Undefined outside of the buffer.
  virtual std::uint64_t read(unsigned buffer, std::int64_t offset, unsigned size) = 0;
  virtual void write(unsigned buffer, std::int64_t offset, unsigned size) = 0;
  /// An atomic operation on an integer of `size` bytes.
  /// @param used whether the kernel does something with its result
  virtual void change(unsigned buffer, std::int64_t offset, unsigned size, protocol::AtomicChange change,
                      bool used) = 0;
  /// Image 0 is read or written, image 1 is read with a sampler, if its kind has any.
  virtual void pixel(unsigned image, const std::array<std::int64_t, 3>& at, bool writes) = 0;
};

struct Node;
using NodePtr = std::unique_ptr<Node>;

/// A kernel with the arguments `__global uchar* b0, b1, b2`, Scalars, and perhaps images `i0, i1`. It never
/// writes to b1.
class RandomKernel {
 public:
  RandomKernel(std::string name, Random& random);
  ~RandomKernel();
  RandomKernel(RandomKernel&&) noexcept;

  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  std::string source() const;
  /// Whether it asks for anything that depends on the work-groups.
  bool uses_groups() const { return uses_groups_; }
  /// The kind of its images; null if it has none.
  const ImageKind* images() const { return images_; }
  /// Runs one work-item. Throws Undefined.
  void run(const Item& item, const Scalars& scalars, Store& store) const;

 private:
  friend class Generator;
  std::string name_;
  std::vector<NodePtr> body_;
  unsigned variables_ = 0;
  bool uses_groups_ = false;
  const ImageKind* images_ = nullptr;
};

}  // namespace clique::test::division
