// The base of the classes behind OpenCL handles: how handles are looked up, counted and given out.
#pragma once

#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "icd/common/error.hpp"

namespace clique::icd {
/// The dispatch table at the beginning of every object of this process (icd/api/dispatch.cpp).
const cl_icd_dispatch* dispatch_table();

/// The first words of every object, as loaders expect them: the dispatch table, and a word for the loader's
/// own use. The second word is never null: Khronos' layer that verifies parameters takes it for a size in
/// clGetKernelWorkGroupInfo, and refuses the call if it is 0.
struct HandleHeader {
  const cl_icd_dispatch* dispatch = dispatch_table();
  const void* loader_data = dispatch;
};
}  // namespace clique::icd

// OpenCL's handle types, which cl.h only declares.
struct _cl_platform_id : clique::icd::HandleHeader {};
struct _cl_device_id : clique::icd::HandleHeader {};
struct _cl_context : clique::icd::HandleHeader {};
struct _cl_command_queue : clique::icd::HandleHeader {};
struct _cl_mem : clique::icd::HandleHeader {};
struct _cl_program : clique::icd::HandleHeader {};
struct _cl_kernel : clique::icd::HandleHeader {};
struct _cl_event : clique::icd::HandleHeader {};
struct _cl_sampler : clique::icd::HandleHeader {};
struct _cl_command_buffer_khr : clique::icd::HandleHeader {};
struct _cl_mutable_command_khr : clique::icd::HandleHeader {};
struct _cl_file_clique : clique::icd::HandleHeader {};
struct _cl_semaphore_khr : clique::icd::HandleHeader {};

namespace clique::icd {

/// A number that is unique in this process over all kinds of objects and commands, and never 0. Any thread.
std::uint64_t next_id();

/// The live handles of one kind: those to which the application holds at least one reference. A lookup never
/// reads the handle's memory, so that stale and foreign handles are recognised. Any thread.
class Registry {
 public:
  void insert(const void* handle);
  void erase(const void* handle);
  /// Calls found() if the handle is alive. Its memory stays until found() returns.
  template <typename F>
  void with(const void* handle, F&& found) const {
    const Shard& shard = shard_of(handle);
    const std::shared_lock lock(shard.mutex);
    if (shard.handles.contains(handle)) found();
  }

 private:
  struct Shard {
    mutable std::shared_mutex mutex;
    std::unordered_set<const void*> handles;
  };
  static constexpr std::size_t kShards = 16;
  const Shard& shard_of(const void* handle) const {
    return shards_[(reinterpret_cast<std::uintptr_t>(handle) >> 6U) % kShards];
  }
  std::array<Shard, kShards> shards_;
};

/// Kinds of handles: the indices of their registries.
enum class Kind : std::uint8_t {
  Device,
  Context,
  Queue,
  Memory,
  Program,
  Kernel,
  Event,
  Sampler,
  CommandBuffer,
  MutableCommand,
  File,
  Semaphore,
  kCount
};

/// The registry of one kind in this process. A forked child starts with empty ones: the parent's handles are
/// not its own.
Registry& registry(Kind kind);

/// Counts the library's own references. Deletes the object when none is left.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void add_ref() const { references_.fetch_add(1, std::memory_order_relaxed); }
  /// For owners of plain pointers: fails if the object is being deleted.
  bool try_add_ref() const {
    std::uint32_t count = references_.load(std::memory_order_relaxed);
    while (count != 0)
      if (references_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
    return false;
  }
  void drop_ref() const {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  virtual ~RefCounted() = default;

 private:
  mutable std::atomic<std::uint32_t> references_{0};
};

/// Owns a reference to a RefCounted.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->add_ref();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) : Ref(other.get()) {}  // NOLINT(google-explicit-constructor)
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  /// Takes over a reference that has already been counted.
  static Ref adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop_ref();
  }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

/// Whether the application can get objects of this kind from others, such as a queue's context or a kernel's
/// program. Their handles live as long as the objects. All other handles die with the application's last
/// reference.
constexpr bool found_through_others(Kind kind) {
  return kind == Kind::Device || kind == Kind::Context || kind == Kind::Queue || kind == Kind::Memory ||
         kind == Kind::Program;
}

/// A class behind a handle. It has the application's reference count, which the queries report, and the
/// library's own (RefCounted): an object lives on while a command or another object needs it.
template <typename Handle, Kind kKind, cl_int kInvalid>
class Object : public Handle, public RefCounted {
 public:
  using HandleType = Handle;
  static constexpr Kind kind = kKind;
  static constexpr cl_int invalid = kInvalid;

  /// Gives the object to the application, which holds one reference from now on.
  Handle* give_out() {
    add_ref();
    api_references_ = 1;
    registry(kKind).insert(static_cast<Handle*>(this));
    return this;
  }
  void retain() {
    if (api_references_.fetch_add(1, std::memory_order_relaxed) == 0) add_ref();
  }
  /// Throws Error(kInvalid) if the application holds no reference.
  void release() {
    cl_uint count = api_references_.load(std::memory_order_relaxed);
    do {
      require(count != 0, kInvalid, "the object has been released more often than retained");
    } while (!api_references_.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel));
    if (count != 1) return;
    if (!found_through_others(kKind)) registry(kKind).erase(static_cast<Handle*>(this));
    abandoned();
    drop_ref();
  }
  /// What the queries report: at least 1, since a caller that can ask has the object in some way.
  cl_uint api_references() const {
    return std::max<cl_uint>(1, api_references_.load(std::memory_order_relaxed));
  }

 protected:
  ~Object() override {
    if (found_through_others(kKind)) registry(kKind).erase(static_cast<Handle*>(this));
  }
  /// Called when the application has released its last reference.
  virtual void abandoned() {}

 private:
  std::atomic<cl_uint> api_references_{0};
};

/// The object behind a handle; empty for anything that is not a live handle of this platform.
template <typename T>
Ref<T> find(typename T::HandleType* handle) {
  Ref<T> object;
  registry(T::kind).with(handle, [&] {
    // Fails if another thread is deleting it.
    if (auto* found = static_cast<T*>(handle); found->try_add_ref()) object = Ref<T>::adopt(found);
  });
  return object;
}

/// The same for a handle that has to be valid. Throws Error(T::invalid).
template <typename T>
Ref<T> get(typename T::HandleType* handle) {
  Ref<T> object = find<T>(handle);
  if (!object)
    throw Error(T::invalid, "the handle is not valid: it has been released, or belongs to another platform");
  return object;
}

/// The objects behind a list of handles. The caller has checked that pointer and count agree. Throws
/// Error(T::invalid).
template <typename T>
std::vector<Ref<T>> get_all(typename T::HandleType* const* handles, std::size_t count) {
  std::vector<Ref<T>> objects;
  objects.reserve(count);
  for (std::size_t i = 0; i < count; ++i) objects.push_back(get<T>(handles[i]));
  return objects;
}

}  // namespace clique::icd
