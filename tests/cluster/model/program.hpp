// A random OpenCL program, and a model of the content that it has to read.
#pragma once

#include <bitset>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/fixture.hpp"
#include "cluster/model/contents.hpp"

namespace clique::test::model {

/// Thrown when the program observes something that the specification does not allow.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Random numbers that only depend on the seed, on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// A number from 0 to `limit` - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  std::size_t between(std::size_t least, std::size_t most) { return least + below(most - least + 1); }
  bool percent(unsigned chance) { return below(100) < chance; }
  std::uint8_t byte() { return static_cast<std::uint8_t>(engine_() >> 32U); }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_() >> 16U); }

 private:
  std::mt19937_64 engine_;
};

/// The loss of a node during the program; see Program.
struct Loss {
  std::size_t step;  ///< the step before which the node is lost
  std::size_t node;  ///< position of its device among devices()
  std::function<void()> kill;
};

/// The program of one host thread: queues, memory objects and events of a context. The seed alone determines
/// everything that it does. If one of two commands writes what the other uses, a queue, events or the host
/// order them in the order of their calls, so that the model can execute all commands one after the other.
///
/// If a node is lost, commands that depend on it may fail. What they wrote is not checked.
class Program {
 public:
  static constexpr std::size_t kMaxCommands = 4096;
  using Commands = std::bitset<kMaxCommands>;
  using Nodes = std::bitset<32>;

  /// @param context for the devices `used`, which are positions in devices()
  /// @param built source(), built for `context`
  /// `context` and `built` must outlive the Program.
  Program(std::uint64_t seed, cl_context context, std::vector<std::size_t> used, cl_program built,
          std::optional<Loss> loss);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  static const char* source();

  /// Runs the program. Call it once. Throws Wrong.
  void run(std::size_t steps);

  /// The calls so far, one per line. Any thread may call this.
  std::string log() const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// A command's use of a part of a store.
  struct Use {
    std::size_t command;
    std::size_t begin;
    std::size_t end;
    bool writes;
  };
  /// The content of a buffer and its sub-buffers, of an image, or of host memory.
  struct Store {
    std::string name;
    Contents cells;
    std::vector<Use> uses;
    Nodes nodes;  ///< nodes on which the content may depend
  };
  struct Access {
    Store* store;
    std::size_t begin;
    std::size_t end;
    enum Mode : std::uint8_t { Read, Overwrite, Change } mode;

    bool writes() const { return mode != Read; }
  };
  struct Area {
    Store store;
    std::vector<std::byte> bytes;
  };
  /// A memory object, with the format if it is an image.
  struct Object {
    std::string name;
    Mem mem;
    std::shared_ptr<Store> store;
    std::size_t begin = 0;
    std::size_t size = 0;
    std::byte* host = nullptr;  ///< the pointer of CL_MEM_USE_HOST_PTR
    bool is_svm = false;        ///< `host` is shared virtual memory
    bool read_only = false;     ///< for kernels
    bool is_sub = false;
    bool is_image = false;
    cl_image_format format{};
    std::size_t unit = 0;
    std::size_t channels = 0;
    Triple extent{};

    Access all(Access::Mode mode) const { return {store.get(), begin, begin + size, mode}; }
    Access part(std::size_t offset, std::size_t bytes, Access::Mode mode) const {
      return {store.get(), begin + offset, begin + offset + bytes, mode};
    }
    /// The position of an image's region in the store.
    Box box(const Triple& origin, const Triple& region) const;
  };
  struct Mapping {
    std::shared_ptr<Object> object;
    std::byte* pointer;
    Box host;    ///< position of the region, relative to `pointer`
    Box stored;  ///< position of the region in the store
    cl_map_flags flags;
    std::size_t command;
    Access access() const;
  };
  struct CommandRecord {
    Event event;
    std::size_t queue;
    Commands before;
    Commands data;  ///< commands whose results it uses
    std::vector<std::size_t> gates;
    Nodes nodes;
    bool failed = false;
    bool pinned = false;  ///< its event stands for those of other commands
  };
  struct QueueRecord {
    Queue queue;
    std::size_t device;
    bool in_order;
    Commands all;
    Commands fence;            ///< commands that precede every later command
    std::size_t tail = kNone;  ///< after the queue was released: a command after all others
  };
  struct Gate {
    Event event;
    bool open = false;
  };
  struct Built {
    Kernel combine, advance, advance_part, advance_image;
  };
  using Call = std::function<cl_int(cl_command_queue, cl_uint, const cl_event*, cl_event*)>;
  enum class Kind : std::uint8_t { Plain, Marker, Barrier };
  struct Wanted {
    bool event = false;
    bool blocking = false;
    Kind kind = Kind::Plain;
    bool with_list = true;  ///< of markers and barriers
  };

  void step();
  void finish_all();

  // Order.
  void need(std::size_t command, Commands& before, std::vector<std::size_t>& waits) const;
  Commands with_before(std::size_t command) const;
  static bool conflict(const Use& use, const Access& access);
  /// What a new command comes after, and of that, what its wait list names.
  struct Order {
    Commands before;
    std::vector<std::size_t> waits = {};
  };
  static bool takes_list(const Wanted& wanted);
  /// Orders a command behind all that conflicts with its accesses: by waiting, by a barrier, or by events.
  Order order_of(std::size_t queue, const std::vector<Access>& accesses, const Wanted& wanted);
  /// A gate that is not open, perhaps a new one.
  std::size_t closed_gate();
  CommandRecord record_of(std::size_t queue, const Commands& before, std::vector<std::size_t> gates,
                          const std::vector<Access>& accesses) const;
  /// Makes the call of a blocking command, and opens the gates that hold it back.
  /// @param meanwhile opens them while the call blocks, not before
  cl_int call_and_open(const CommandRecord& record, bool meanwhile, const std::function<cl_int()>& call);
  /// Notes how a command, which may have failed, uses memory.
  void note_uses(std::size_t command, const std::vector<Access>& accesses);
  /// Enqueues a command, with the events that its accesses need in the wait list. Returns the command's
  /// number.
  std::size_t enqueue(std::size_t queue, const std::string& text, const std::vector<Access>& accesses,
                      Wanted wanted, const Call& call);
  /// A command with an event that completes after this command.
  std::size_t with_event(std::size_t command);
  std::size_t marker(std::size_t queue);
  void wait_for(std::size_t command);
  void finish(std::size_t queue);
  void host_done(const Commands& commands);
  /// Waits until the host may use a part of a store.
  void host_access(const Access& access);
  void open_gates_of(const Commands& commands);
  void open(std::size_t gate);

  // The kinds of steps.
  void create_queue(std::size_t device, bool in_order);
  void create_buffer();
  void create_sub_buffer();
  void create_image();
  void release_object();
  void release_queue();
  void release_event();
  void write_buffer();
  void read_buffer();
  void copy_buffer();
  void fill_buffer();
  void rect_to_host(bool reads);
  void copy_rect();
  void launch();
  void launch_image();
  void image_to_host(bool reads);
  void copy_image();
  void fill_image();
  void image_and_buffer();
  void map();
  void unmap(std::size_t index);
  void migrate();
  void synchronise();

  // Choices.
  std::size_t any_queue();
  std::shared_ptr<Object> any_buffer();
  std::shared_ptr<Object> any_image();
  std::size_t any_size();
  std::pair<std::size_t, std::size_t> any_range(std::size_t size, std::size_t unit = 1);
  Triple any_region(const Triple& extent);
  /// Host memory for a command, with at least `size` bytes from the returned offset on: new memory, or memory
  /// that other commands use.
  std::pair<Area*, std::size_t> any_area(std::size_t size, bool for_reading);
  Box any_box(const Triple& region, std::size_t size);
  Triple box_region(std::size_t size);
  Area& new_area(std::size_t size);

  void unmap_conflicting(const std::vector<Access>& accesses);
  void check(const std::byte* actual, const Contents& expected, std::size_t begin, std::size_t size,
             const std::string& what);
  bool doubtful(const Store& store, std::size_t begin, std::size_t end) const;
  void check_status(cl_int status, const std::string& what);
  std::string name_of(std::size_t queue) const;
  void say(const std::string& text);
  static Contents cut(const Contents& from, std::size_t begin, std::size_t size);

  Random random_;
  cl_context context_;
  std::vector<std::size_t> devices_;
  std::optional<Loss> loss_;
  bool lost_ = false;
  Built kernels_;
  mutable std::mutex log_mutex_;
  std::string log_;
  std::vector<std::unique_ptr<Area>> areas_;  // outlive everything that uses them
  std::vector<std::unique_ptr<std::byte[]>> host_pointers_;
  bool has_svm_ = true;                                  // whether all devices have it
  std::vector<std::shared_ptr<std::byte>> allocations_;  // of shared virtual memory
  std::vector<CommandRecord> commands_;
  std::vector<QueueRecord> queues_;
  std::vector<std::shared_ptr<Object>> objects_;
  std::vector<Mapping> mappings_;
  std::vector<Gate> gates_;
  Commands done_;  ///< commands that the host knows to be complete
  std::size_t names_ = 0;
  std::size_t bytes_ = 0;
  std::size_t alignment_ = 1;
};

}  // namespace clique::test::model
