#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <condition_variable>
#include <list>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "aes.hpp"
#include "cipher.hpp"
#include "xts_source.hpp"

namespace crypt_nbd {

namespace {

/// Work-items that share a copy of the tables.
constexpr std::size_t kGroup = 64;
constexpr std::size_t kBlock = 16;

cl::Device device_of(const std::string& platform_name) {
  std::vector<cl::Platform> platforms;
  // Loaders say with an error that there is no platform.
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS && count > 0) cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    if (platform.getInfo<CL_PLATFORM_NAME>().find(platform_name) == std::string::npos) continue;
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (!devices.empty()) return devices.front();
  }
  throw std::runtime_error("no OpenCL platform whose name contains '" + platform_name +
                           "' has a device; `clinfo -l` lists platforms and devices");
}

/// One direction: its kernel's name, tables and round keys.
struct Direction {
  const char* kernel;
  cl::Buffer rounds, last, key;
};

class DeviceCipher final : public Cipher {
 public:
  DeviceCipher(const std::string& platform, const Key& key, std::size_t parallel)
      : device_(device_of(platform)),
        context_(device_),
        program_(context_, std::string(kXtsSource)),
        tweak_key_(constant(encryption_keys(std::span(key).last<32>()))) {
    program_.build();
    const auto direction = [this](const char* kernel, const RoundTables& tables, const RoundKeys& keys) {
      return Direction{kernel, constant(tables.rounds), constant(tables.last), constant(keys)};
    };
    const auto data_key = std::span(key).first<32>();
    encryption_ = direction("encrypt_sectors", encryption_tables(), encryption_keys(data_key));
    decryption_ = direction("decrypt_sectors", decryption_tables(), decryption_keys(data_key));
    for (std::size_t i = 0; i < parallel; ++i) free_.emplace_back(*this);
  }

  void encrypt(std::uint64_t sector, std::span<std::byte> data) override { run(encryption_, sector, data); }
  void decrypt(std::uint64_t sector, std::span<std::byte> data) override { run(decryption_, sector, data); }

 private:
  /// What one request at a time uses.
  struct Slot {
    explicit Slot(const DeviceCipher& cipher)
        : queue(cipher.context_, cipher.device_), tweaks_kernel(cipher.program_, "first_tweaks") {}
    cl::CommandQueue queue;
    cl::Kernel tweaks_kernel;
    cl::Buffer data, tweaks;
    std::size_t size = 0;  // of `data`
  };

  template <typename Table>
  cl::Buffer constant(const Table& table) const {
    return {context_, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof table, const_cast<Table*>(&table)};
  }

  /// Splices a slot out of the free ones; waits for one.
  std::list<Slot> take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !free_.empty(); });
    std::list<Slot> one;
    one.splice(one.begin(), free_, free_.begin());
    return one;
  }
  void give_back(std::list<Slot>& one) {
    {
      const std::lock_guard lock(mutex_);
      free_.splice(free_.begin(), one);
    }
    returned_.notify_one();
  }

  void run(const Direction& direction, std::uint64_t sector, std::span<std::byte> data) {
    if (data.empty()) return;
    std::list<Slot> one = take();
    try {
      run(one.front(), direction, sector, data);
    } catch (const cl::Error& error) {
      // What the queue still has to do uses the caller's memory.
      clFinish(one.front().queue());
      give_back(one);
      throw std::runtime_error(std::string(error.what()) + " failed with error " +
                               std::to_string(error.err()));
    }
    give_back(one);
  }

  void run(Slot& slot, const Direction& direction, std::uint64_t sector, std::span<std::byte> data) const {
    if (slot.size < data.size()) {
      slot.data = cl::Buffer(context_, CL_MEM_READ_WRITE, data.size());
      slot.tweaks = cl::Buffer(context_, CL_MEM_READ_WRITE, data.size() / kSector * kBlock);
      slot.size = data.size();
    }
    const cl_ulong sectors = data.size() / kSector, blocks = data.size() / kBlock;
    const auto launch = [&slot](const cl::Kernel& kernel, std::size_t items) {
      slot.queue.enqueueNDRangeKernel(
          kernel, cl::NullRange, cl::NDRange((items + kGroup - 1) / kGroup * kGroup), cl::NDRange(kGroup));
    };
    const auto set = [](cl::Kernel& kernel, const auto&... values) {
      cl_uint index = 0;
      (kernel.setArg(index++, values), ...);
    };
    slot.queue.enqueueWriteBuffer(slot.data, CL_FALSE, 0, data.size(), data.data());
    set(slot.tweaks_kernel, slot.tweaks, cl_ulong{sector}, sectors, tweak_key_, encryption_.rounds,
        encryption_.last);
    launch(slot.tweaks_kernel, sectors);
    cl::Kernel kernel(program_, direction.kernel);
    set(kernel, slot.data, slot.tweaks, blocks, direction.key, direction.rounds, direction.last);
    launch(kernel, blocks);
    slot.queue.enqueueReadBuffer(slot.data, CL_TRUE, 0, data.size(), data.data());
  }

  cl::Device device_;
  cl::Context context_;
  cl::Program program_;
  cl::Buffer tweak_key_;
  Direction encryption_, decryption_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable returned_;
  std::list<Slot> free_;
};

}  // namespace

std::unique_ptr<Cipher> make_device_cipher(const std::string& platform, const Key& key,
                                           std::size_t parallel) {
  try {
    return std::make_unique<DeviceCipher>(platform, key, parallel);
  } catch (const cl::Error& error) {
    throw std::runtime_error(std::string(error.what()) + " failed with error " + std::to_string(error.err()) +
                             " when AES-XTS was set up on the device");
  }
}

}  // namespace crypt_nbd
