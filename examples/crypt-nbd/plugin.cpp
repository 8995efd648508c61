// An nbdkit plugin: a file of encrypted sectors as a network block device of plain ones.
#define NBDKIT_API_VERSION 2
#include <fcntl.h>
#include <nbdkit-plugin.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cipher.hpp"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace {

using namespace crypt_nbd;

/// The most requests that are on the device at a time.
constexpr std::size_t kParallel = 16;
/// nbdkit allows requests of this size.
constexpr std::uint32_t kLargestRequest = 64U << 20U;

struct Plugin {
  std::string file;
  std::string key_file;
  std::string platform;
  bool on_device = true;
  int descriptor = -1;
  std::int64_t size = 0;
  Key key{};
  std::mutex mutex;  // guards the next one until the first connection is open
  std::unique_ptr<Cipher> cipher;
};

Plugin& plugin_state() {
  static Plugin one;
  return one;
}

/// Calls `body`, and reports what it throws. @returns nbdkit's success or failure
template <typename Body>
int guarded(Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    nbdkit_error("%s", error.what());
    nbdkit_set_error(EIO);
    return -1;
  }
}

[[noreturn]] void fail_with_errno(const char* what) {
  throw std::runtime_error(plugin_state().file + " cannot be " + what + ": " + std::strerror(errno));
}

/// Where a request is, in sectors. Throws std::runtime_error.
std::uint64_t sector_of(std::uint32_t count, std::uint64_t offset) {
  if (count % kSector != 0 || offset % kSector != 0)
    throw std::runtime_error("a request of " + std::to_string(count) + " bytes at " + std::to_string(offset) +
                             " does not consist of sectors of " + std::to_string(kSector) +
                             " bytes; put nbdkit's filter 'blocksize' in front (minblock=512)");
  return offset / kSector;
}

int configure(const char* name, const char* value) {
  return guarded([&] {
    Plugin& plugin = plugin_state();
    const std::string text = value;
    if (const std::string key = name; key == "file") {
      plugin.file = text;
    } else if (key == "key-file") {
      plugin.key_file = text;
    } else if (key == "platform") {
      plugin.platform = text;
    } else if (key == "cipher" && (text == "device" || text == "processor")) {
      plugin.on_device = text == "device";
    } else if (key == "cipher") {
      throw std::runtime_error("cipher=" + text + " is not known; write cipher=device or cipher=processor");
    } else {
      throw std::runtime_error("unknown parameter '" + key +
                               "'; there are file, key-file, cipher and platform");
    }
  });
}

int configured() {
  return guarded([] {
    if (plugin_state().file.empty() || plugin_state().key_file.empty())
      throw std::runtime_error(
          "say file=FILE, the encrypted sectors, and key-file=FILE, 128 hexadecimal digits");
  });
}

/// Before nbdkit becomes a daemon, which leaves the working directory.
int get_ready() {
  return guarded([] {
    Plugin& plugin = plugin_state();
    plugin.key = read_key(plugin.key_file);
    plugin.descriptor = ::open(plugin.file.c_str(), O_RDWR | O_CLOEXEC);
    if (plugin.descriptor < 0) fail_with_errno("opened");
    plugin.size = ::lseek(plugin.descriptor, 0, SEEK_END);
    if (plugin.size < 0) fail_with_errno("measured");
    if (plugin.size % static_cast<std::int64_t>(kSector) != 0)
      throw std::runtime_error(plugin.file + " has " + std::to_string(plugin.size) +
                               " bytes, which is no number of sectors of 512 bytes; truncate it");
  });
}

void cleanup() {
  plugin_state().cipher.reset();
  if (plugin_state().descriptor >= 0) ::close(plugin_state().descriptor);
}

/// The first connection sets the cipher up: OpenCL drivers have threads, which do not survive that nbdkit
/// becomes a daemon, and a failure has to reach a client.
void* open_connection(int /*readonly*/) {
  const int result = guarded([] {
    Plugin& plugin = plugin_state();
    const std::lock_guard lock(plugin.mutex);
    if (plugin.cipher) return;
    plugin.cipher = plugin.on_device ? make_device_cipher(plugin.platform, plugin.key, kParallel)
                                     : make_processor_cipher(plugin.key);
  });
  return result == 0 ? NBDKIT_HANDLE_NOT_NEEDED : nullptr;
}

std::int64_t get_size(void* /*handle*/) {
  return plugin_state().size;
}

int block_size(void* /*handle*/, std::uint32_t* minimum, std::uint32_t* preferred, std::uint32_t* maximum) {
  *minimum = kSector;
  *preferred = 1U << 20U;
  *maximum = kLargestRequest;
  return 0;
}

int several_connections(void* /*handle*/) {
  return 1;
}

int read_plain(void* /*handle*/, void* buffer, std::uint32_t count, std::uint64_t offset,
               std::uint32_t /*flags*/) {
  return guarded([&] {
    Plugin& plugin = plugin_state();
    const std::uint64_t sector = sector_of(count, offset);
    const std::span data(static_cast<std::byte*>(buffer), count);
    for (std::size_t done = 0; done < count;) {
      const ssize_t got =
          ::pread(plugin.descriptor, data.data() + done, count - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_with_errno("read");
      if (got == 0) throw std::runtime_error(plugin.file + " has become shorter");
      done += static_cast<std::size_t>(got);
    }
    plugin.cipher->decrypt(sector, data);
  });
}

int write_plain(void* /*handle*/, const void* buffer, std::uint32_t count, std::uint64_t offset,
                std::uint32_t flags) {
  return guarded([&] {
    Plugin& plugin = plugin_state();
    const std::uint64_t sector = sector_of(count, offset);
    const auto* const bytes = static_cast<const std::byte*>(buffer);
    std::vector<std::byte> data(bytes, bytes + count);
    plugin.cipher->encrypt(sector, data);
    for (std::size_t done = 0; done < count;) {
      const ssize_t put =
          ::pwrite(plugin.descriptor, data.data() + done, count - done, static_cast<off_t>(offset + done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail_with_errno("written");
      done += static_cast<std::size_t>(put);
    }
    if ((flags & NBDKIT_FLAG_FUA) != 0 && ::fdatasync(plugin.descriptor) != 0)
      fail_with_errno("synchronised");
  });
}

int flush(void* /*handle*/, std::uint32_t /*flags*/) {
  return guarded([] {
    if (::fdatasync(plugin_state().descriptor) != 0) fail_with_errno("synchronised");
  });
}

nbdkit_plugin description() {
  nbdkit_plugin plugin{};
  plugin.name = "crypt";
  plugin.longname = "AES-256-XTS on an OpenCL device";
  plugin.description =
      "A file of sectors encrypted with AES-256-XTS, as a network block device of plain ones.";
  plugin.config = configure;
  plugin.config_complete = configured;
  plugin.config_help =
      "file=FILE           (required) the encrypted sectors\n"
      "key-file=FILE       (required) 128 hexadecimal digits\n"
      "cipher=WHERE        device (default) or processor\n"
      "platform=NAME       part of the OpenCL platform's name; default: the first platform";
  plugin.magic_config_key = "file";
  plugin.get_ready = get_ready;
  plugin.cleanup = cleanup;
  plugin.open = open_connection;
  plugin.get_size = get_size;
  plugin.block_size = block_size;
  plugin.can_multi_conn = several_connections;
  plugin.pread = read_plain;
  plugin.pwrite = write_plain;
  plugin.flush = flush;
  return plugin;
}

nbdkit_plugin plugin = description();

}  // namespace

NBDKIT_REGISTER_PLUGIN(plugin)
