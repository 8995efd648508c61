// Random kernels on combined devices, whose results have to be those of one device, byte for byte. Wants
// CLIQUE_COMBINE with one or several groups, CLIQUE_COMBINE_DIVIDE=always and CLIQUE_COMBINE_EXPLAIN=1.
// docs/testing.md describes how to run more, and how to replay one.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cluster/combined/complaints.hpp"
#include "cluster/combined/explanations.hpp"
#include "division/options.hpp"
#include "division/random_launch.hpp"
#include "program.hpp"

namespace clique::test::division {

namespace {

constexpr const char* kUsage =
    "combined_tests [--seed N] [--seeds N] [--print] [--check] [--too-small]\n"
    "  --seed N   the first program; 1\n"
    "  --seeds N  how many programs, with the seeds N, N + 1, ...; 1\n"
    "  --print    prints the kernels\n"
    "  --check    builds them with -clique-check-footprints; the members have to be NVIDIA GPUs through "
    "CUDA\n"
    "  --too-small  the same, with a byte less than expected of each range, which has to be noticed\n";

constexpr unsigned kKernels = 6;
constexpr unsigned kSteps = 18;
/// The only object that kernels read through b1. No command writes to it.
constexpr unsigned kConstant = 1;

using Bytes = std::vector<unsigned char>;

unsigned char content(unsigned object, std::uint64_t at) {
  return static_cast<unsigned char>((at * 37 + object * 11) % 251);
}

/// Whether the work-items of a launch stay within their buffers, and do not interfere with each other.
/// Without fences, which these kernels do not have, a work-item need not see what it has written to an image.
class Checker : public Store {
 public:
  explicit Checker(const RandomLaunch& launch)
      : launch_(launch), writer_(kObjects), reader_(kObjects), by_image_(kObjects), changes_(kObjects) {
    for (unsigned i = 0; i < kObjects; ++i) {
      writer_[i].resize(size_of(i));
      reader_[i].resize(size_of(i));
      by_image_[i].resize(size_of(i));
      changes_[i].resize(size_of(i));
    }
  }

  unsigned item = 1;

  std::uint64_t read(unsigned buffer, std::int64_t offset, unsigned size) override {
    const auto [object, at] = place(buffer, offset, size);
    for (unsigned i = 0; i < size; ++i) {
      auto& reader = reader_[object][at + i];
      reader = reader == 0 || reader == item ? item : kSeveral;
      require_own(changes_[object][at + i]);
      if (writer_[object][at + i] != 0 && (writer_[object][at + i] != item || by_image_[object][at + i]))
        throw Undefined();
    }
    return content(object, at);
  }
  void write(unsigned buffer, std::int64_t offset, unsigned size) override {
    const auto [object, at] = place(buffer, offset, size);
    for (unsigned i = 0; i < size; ++i) {
      auto& writer = writer_[object][at + i];
      const unsigned reader = reader_[object][at + i];
      if ((writer != 0 && writer != item) || (reader != 0 && reader != item)) throw Undefined();
      require_own(changes_[object][at + i]);
      writer = item;
    }
  }
  void change(unsigned buffer, std::int64_t offset, unsigned size, protocol::AtomicChange change,
              bool used) override {
    if (used) {
      // What it is depends on the order, unless all is this work-item's.
      read(buffer, offset, size);
      return write(buffer, offset, size);
    }
    const auto [object, at] = place(buffer, offset, size);
    for (unsigned i = 0; i < size; ++i) {
      const unsigned writer = writer_[object][at + i];
      const unsigned reader = reader_[object][at + i];
      if ((writer != 0 && writer != item) || (reader != 0 && reader != item)) throw Undefined();
      if (by_image_[object][at + i]) throw Undefined();
      Changes& changes = changes_[object][at + i];
      const bool same = changes.items == 0 || (changes.change == change && changes.size == size);
      if (!same) require_own(changes);
      changes = {changes.items == 0 || changes.items == item ? item : kSeveral,
                 same ? change : protocol::AtomicChange::None, same ? size : 0};
    }
  }
  void pixel(unsigned image, const std::array<std::int64_t, 3>& at, bool writes) override {
    const auto found = launch_.place_of(image, at, writes);
    if (!found) return;
    const auto offset = static_cast<std::int64_t>(*found);
    const auto size = static_cast<unsigned>(launch_.images->pixel_size());
    const auto [object, begin] = place(kBuffers + image, offset, size);
    const auto bytes =
        std::pair(static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(begin + size));
    if (writes) {
      write(kBuffers + image, offset, size);
      std::fill(by_image_[object].begin() + bytes.first, by_image_[object].begin() + bytes.second, true);
    } else {
      const auto& writers = writer_[object];
      if (std::any_of(writers.begin() + bytes.first, writers.begin() + bytes.second,
                      [](unsigned writer) { return writer != 0; }))
        throw Undefined();
      read(kBuffers + image, offset, size);
    }
  }

 private:
  static constexpr unsigned kSeveral = ~0U;

  /// The atomic operations on a byte, without those whose results are used.
  struct Changes {
    unsigned items = 0;                                            ///< the work-item; 0: none
    protocol::AtomicChange change = protocol::AtomicChange::None;  ///< None: several kinds, of one work-item
    unsigned size = 0;
  };

  void require_own(const Changes& changes) const {
    if (changes.items != 0 && changes.items != item) throw Undefined();
  }

  std::pair<unsigned, std::uint64_t> place(unsigned buffer, std::int64_t offset, unsigned size) const {
    const Part& part = launch_.buffers[buffer];
    if (offset < 0 || static_cast<std::uint64_t>(offset) + size > part.size) throw Undefined();
    return {part.object, part.begin + static_cast<std::uint64_t>(offset)};
  }

  const RandomLaunch& launch_;
  std::vector<std::vector<unsigned>> writer_;
  std::vector<std::vector<unsigned>> reader_;
  std::vector<std::vector<bool>> by_image_;  ///< whether the byte was written as a part of a pixel
  std::vector<std::vector<Changes>> changes_;
};

bool defined(const RandomKernel& kernel, const RandomLaunch& launch) {
  Checker checker(launch);
  try {
    launch.each_item({}, {launch.groups(0), launch.groups(1), launch.groups(2)}, [&](const Item& item) {
      kernel.run(item, launch.scalars, checker);
      ++checker.item;
    });
  } catch (const Undefined&) {
    return false;
  }
  return true;
}

/// Throws std::runtime_error if the call has failed. @param what its name
void check(cl_int status, const char* what) {
  if (status != CL_SUCCESS) throw std::runtime_error(what + (": " + std::to_string(status)));
}

/// How programs are built for combined devices.
struct Build {
  std::string options = "-cl-std=CL3.0";
  Complaints* complaints = nullptr;  ///< null: they do not check their accesses
};

/// One device with the kernels and the objects.
class Run {
 public:
  Run(cl_device_id device, const std::string& source, const std::vector<std::string>& names, bool in_order,
      const Build& build) {
    cl_int status = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device, build.complaints != nullptr ? &Complaints::note : nullptr,
                               build.complaints, &status);
    check(status, "clCreateContext");
    const cl_command_queue_properties properties = in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    queue_ = clCreateCommandQueue(context_, device, properties, &status);
    check(status, "clCreateCommandQueue");
    const char* text = source.c_str();
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device, build.options.c_str(), nullptr, nullptr), "clBuildProgram");
    for (const std::string& name : names) {
      kernels_.push_back(clCreateKernel(program_, name.c_str(), &status));
      check(status, "clCreateKernel");
    }
    for (unsigned i = 0; i < kObjects; ++i) {
      Bytes bytes(size_of(i));
      for (std::uint64_t at = 0; at < bytes.size(); ++at) bytes[at] = content(i, at);
      const ImageKind* const kind = kind_of(i);
      objects_.push_back(
          kind == nullptr
              ? clCreateBuffer(context_, CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &status)
              : create_image(*kind, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, nullptr, bytes.data()));
      check(status, "clCreateBuffer");
    }
    // PoCL 3.1 uses a view of a buffer that was released while a launch that has it waits.
    for (const ImageKind& kind : kImageKinds)
      for (unsigned i = 0; kind.in_buffer && i < kBuffers; ++i)
        views_.push_back(create_image(kind, CL_MEM_READ_WRITE, objects_[i], nullptr));
  }
  ~Run() {
    for (cl_mem view : views_) clReleaseMemObject(view);
    for (cl_mem object : objects_) clReleaseMemObject(object);
    for (cl_kernel kernel : kernels_) clReleaseKernel(kernel);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// @param wait whether the launch waits for the command before, which an in-order queue sees to in any case
  void launch(std::size_t kernel, const RandomLaunch& launch, bool wait) {
    const cl_kernel native = kernels_[kernel];
    std::vector<cl_mem> parts;
    for (unsigned i = 0; i < kBuffers; ++i) {
      const Part& part = launch.buffers[i];
      const cl_buffer_region region{part.begin, part.size};
      cl_mem buffer = objects_[part.object];
      if (part.begin != 0 || part.size != kObjectSize) {
        cl_int status = CL_SUCCESS;
        buffer = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
        check(status, "clCreateSubBuffer");
        parts.push_back(buffer);
      }
      check(clSetKernelArg(native, i, sizeof buffer, &buffer), "clSetKernelArg");
    }
    const auto set = [&](cl_uint index, const auto& value) {
      check(clSetKernelArg(native, index, sizeof value, &value), "clSetKernelArg");
    };
    set(kBuffers, launch.scalars.a);
    set(kBuffers + 1, launch.scalars.b);
    set(kBuffers + 2, launch.scalars.c);
    set(kBuffers + 3, launch.scalars.d);
    for (unsigned i = 0; launch.images != nullptr && i < kImages; ++i) {
      const unsigned object = launch.buffers[kBuffers + i].object;
      set(kBuffers + 4 + i, launch.images->in_buffer ? views_[object] : objects_[object]);
    }
    const auto size = [](const std::array<std::uint64_t, 3>& from) {
      return std::array<std::size_t, 3>{from[0], from[1], from[2]};
    };
    const auto offset = size(launch.offset);
    const auto global = size(launch.global);
    const auto local = size(launch.local);
    const bool waits = wait && last_ != nullptr;
    cl_event event = nullptr;
    check(clEnqueueNDRangeKernel(queue_, native, launch.dimensions, offset.data(), global.data(),
                                 launch.has_groups ? local.data() : nullptr, waits ? 1 : 0,
                                 waits ? &last_ : nullptr, &event),
          "clEnqueueNDRangeKernel");
    follow(event);
    for (cl_mem part : parts) clReleaseMemObject(part);
  }

  void write(unsigned object, std::size_t begin, const Bytes& bytes) {
    cl_event event = nullptr;
    check(clEnqueueWriteBuffer(queue_, objects_[object], CL_FALSE, begin, bytes.size(), bytes.data(),
                               last_ != nullptr ? 1 : 0, last_ != nullptr ? &last_ : nullptr, &event),
          "clEnqueueWriteBuffer");
    follow(event);
    clWaitForEvents(1, &last_);
  }

  /// Writes to all rows of an image, from a column on.
  void write_image(unsigned object, std::size_t column, unsigned char value) {
    const ImageKind& kind = *kind_of(object);
    const std::array<std::size_t, 3> origin{column, 0, 0};
    const std::array<std::size_t, 3> region{1, kind.extent[1], kind.extent[2]};
    const Bytes bytes(region[1] * region[2] * kind.pixel_size(), value);
    cl_event event = nullptr;
    check(clEnqueueWriteImage(queue_, objects_[object], CL_FALSE, origin.data(), region.data(), 0, 0,
                              bytes.data(), last_ != nullptr ? 1 : 0, last_ != nullptr ? &last_ : nullptr,
                              &event),
          "clEnqueueWriteImage");
    follow(event);
    clWaitForEvents(1, &last_);
  }

  Bytes read(unsigned object) {
    Bytes bytes(size_of(object));
    const cl_uint count = last_ != nullptr ? 1 : 0;
    const cl_event* const waits = last_ != nullptr ? &last_ : nullptr;
    if (const ImageKind* const kind = kind_of(object)) {
      const std::array<std::size_t, 3> origin{};
      const std::array<std::size_t, 3> region{kind->extent[0], kind->extent[1], kind->extent[2]};
      check(clEnqueueReadImage(queue_, objects_[object], CL_TRUE, origin.data(), region.data(), 0, 0,
                               bytes.data(), count, waits, nullptr),
            "clEnqueueReadImage");
    } else {
      check(clEnqueueReadBuffer(queue_, objects_[object], CL_TRUE, 0, bytes.size(), bytes.data(), count,
                                waits, nullptr),
            "clEnqueueReadBuffer");
    }
    return bytes;
  }

  void finish() {
    check(clFinish(queue_), "clFinish");
    follow(nullptr);
  }

 private:
  cl_mem create_image(const ImageKind& kind, cl_mem_flags flags, cl_mem buffer, void* content) const {
    static constexpr cl_mem_object_type kTypes[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                                    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                                    CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE1D_BUFFER};
    const cl_image_format format{static_cast<cl_channel_order>(kind.channels == 1 ? CL_R : CL_RGBA),
                                 static_cast<cl_channel_type>(kind.channel_size == 1   ? CL_UNSIGNED_INT8
                                                              : kind.channel_size == 2 ? CL_UNSIGNED_INT16
                                                                                       : CL_UNSIGNED_INT32)};
    cl_image_desc desc{};
    desc.image_type = kTypes[&kind - std::begin(kImageKinds)];
    desc.image_width = kind.extent[0];
    desc.image_height = kind.dimensions > 1 ? kind.extent[1] : 0;
    desc.image_depth = kind.extent[2];
    desc.image_array_size = kind.extent[kind.dimensions - 1];
    desc.buffer = buffer;
    cl_int status = CL_SUCCESS;
    cl_mem image = clCreateImage(context_, flags, &format, &desc, content, &status);
    check(status, "clCreateImage");
    return image;
  }

  void follow(cl_event event) {
    if (last_ != nullptr) clReleaseEvent(last_);
    last_ = event;
  }

  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  std::vector<cl_kernel> kernels_;
  std::vector<cl_mem> objects_;
  std::vector<cl_mem> views_;  ///< images in the buffers
  cl_event last_ = nullptr;
};

std::string name_of(cl_device_id device) {
  std::array<char, 512> name{};
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, name.size(), name.data(), nullptr), "clGetDeviceInfo");
  return name.data();
}

class Comparison {
 public:
  Comparison(std::uint64_t seed, const std::vector<cl_device_id>& combined, cl_device_id single, bool print,
             const Build& build)
      : random_(seed) {
    std::vector<std::string> names;
    while (kernels_.size() < kKernels) {
      // Programs, and kernels that write images, are told apart in explanations.
      kernels_.emplace_back("s" + std::to_string(seed) + "k" + std::to_string(names.size()), random_);
      if (kernels_.back().source().find("write_image") != std::string::npos)
        kernels_.back().rename(kernels_.back().name() + "_image");
      if (!next_launch(kernels_.back())) {
        kernels_.pop_back();
        continue;
      }
      names.push_back(kernels_.back().name());
      source_ += kernels_.back().source();
    }
    if (print) std::printf("%s", source_.c_str());
    in_order_ = random_.percent(70);
    runs_.push_back(std::make_unique<Run>(single, source_, names, in_order_, Build{}));
    devices_.push_back(name_of(single));
    for (cl_device_id device : combined) {
      runs_.push_back(std::make_unique<Run>(device, source_, names, in_order_, build));
      devices_.push_back(name_of(device));
    }
  }

  const std::string& source() const { return source_; }

  /// @returns false if a device computes something else than the single one
  bool run(std::uint64_t& launches) {
    for (unsigned step = 0; step < kSteps; ++step) {
      const auto action = random_.below(10);
      if (action < 8) {
        launches += launch() ? 1 : 0;
      } else if (action == 8) {
        if (random_.percent(40)) {
          const auto image = static_cast<unsigned>(random_.between(kBuffers, kObjects - 1));
          const std::size_t column = random_.below(kind_of(image)->extent[0]);
          const auto value = static_cast<unsigned char>(random_.below(256));
          for (const auto& run : runs_) run->write_image(image, column, value);
          continue;
        }
        const auto object = random_.percent(50) ? 0U : 2U;
        const std::size_t begin = random_.below(kObjectSize - 64);
        const Bytes bytes(1 + random_.below(64), static_cast<unsigned char>(random_.below(256)));
        for (const auto& run : runs_) run->write(object, begin, bytes);
      } else if (!same()) {
        return false;
      }
    }
    if (!same()) return false;
    for (const auto& run : runs_) run->finish();
    return true;
  }

 private:
  /// A launch of the kernel that OpenCL defines; none if it is hard to find.
  std::optional<RandomLaunch> next_launch(const RandomKernel& kernel) {
    for (unsigned attempt = 0; attempt < 10; ++attempt) {
      RandomLaunch launch(random_, kernel, kernel.uses_groups(), /*partial=*/false);
      launch.buffers[1].object = kConstant;
      for (const unsigned i : {0U, 2U})
        if (launch.buffers[i].object == kConstant) launch.buffers[i].object = 2 - i;
      if (defined(kernel, launch)) return launch;
    }
    return std::nullopt;
  }

  bool launch() {
    const std::size_t index = random_.below(kernels_.size());
    const auto launch = next_launch(kernels_[index]);
    if (!launch) return false;
    last_ = kernels_[index].name();
    const bool wait = !in_order_ || random_.percent(20);
    for (const auto& run : runs_) run->launch(index, *launch, wait);
    return true;
  }

  bool same() {
    for (unsigned object = 0; object < kObjects; ++object) {
      const Bytes expected = runs_[0]->read(object);
      for (std::size_t i = 1; i < runs_.size(); ++i) {
        const Bytes bytes = runs_[i]->read(object);
        for (std::size_t at = 0; at < bytes.size(); ++at) {
          if (bytes[at] == expected[at]) continue;
          std::printf("after kernel %s, byte %zu of object %u is %u on %s, and %u on %s\n%s", last_.c_str(),
                      at, object, bytes[at], devices_[i].c_str(), expected[at], devices_[0].c_str(),
                      source_.c_str());
          return false;
        }
      }
    }
    return true;
  }

  Random random_;
  std::vector<RandomKernel> kernels_;
  std::string source_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::string> devices_;
  std::string last_;
  bool in_order_ = false;
};

/// Whether the devices compute the same, and no launch accesses what it is not expected to. A launch that
/// fails leaves commands that fail, too, and wrong results.
bool is_right(Comparison& comparison, const Complaints& complaints, std::uint64_t& launches) {
  bool same = false;
  try {
    same = comparison.run(launches);
  } catch (const std::exception&) {
    if (complaints.first().empty()) throw;
  }
  if (complaints.first().empty()) return same;
  std::printf("%s\n%s", complaints.first().c_str(), comparison.source().c_str());
  return false;
}

/// How programs check what they access.
enum class Checking : std::uint8_t {
  None,
  Exact,
  TooSmall,  ///< each expected range lacks a byte, which has to be noticed
};

int run(const Options& options, Checking checking) {
  const Explanations explanations;
  std::vector<cl_device_id> combined;
  std::vector<cl_device_id> single;
  for (cl_device_id device : program::all_devices())
    (name_of(device).starts_with("Clique ") ? combined : single).push_back(device);
  if (combined.empty() || single.empty()) {
    std::puts("there is no combined device, or no other one: set CLIQUE_COMBINE");
    return EXIT_FAILURE;
  }
  std::uint64_t launches = 0;
  Complaints complaints;
  Build build;
  if (checking != Checking::None) {
    build.options +=
        checking == Checking::Exact ? " -clique-check-footprints" : " -clique-check-footprints=1";
    build.complaints = &complaints;
  }
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.seed + i;
    Comparison comparison(seed, combined, single.front(), options.print, build);
    if (!is_right(comparison, complaints, launches)) {
      if (checking == Checking::TooSmall && complaints.mention("accesses that are not expected")) {
        std::puts("noticed");
        return EXIT_SUCCESS;
      }
      std::printf("WRONG: seed %llu\n", static_cast<unsigned long long>(seed));
      return EXIT_FAILURE;
    }
  }
  if (checking == Checking::TooSmall) {
    std::puts("ranges that lack a byte have not been noticed");
    return EXIT_FAILURE;
  }
  const unsigned divided = explanations.count(": divided into ");
  const unsigned of_images = explanations.count(": divided into ", "_image, ");
  const unsigned merged = explanations.count(": divided into ", "are merged");
  std::printf(
      "%llu programs, %llu launches on each of %zu combined devices, %u kinds of launches divided, %u of "
      "them of kernels that write images, %u of them with merges; none wrong\n",
      static_cast<unsigned long long>(options.seeds), static_cast<unsigned long long>(launches),
      combined.size(), divided, of_images, merged);
  // Otherwise nothing was tested.
  return divided == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace

}  // namespace clique::test::division

int main(int count, char** words) {
  try {
    auto checking = clique::test::division::Checking::None;
    const auto options = clique::test::division::parse(count, words, {}, [&](const std::string& name) {
      using clique::test::division::Checking;
      if (name != "--check" && name != "--too-small") return false;
      checking = name == "--check" ? Checking::Exact : Checking::TooSmall;
      return true;
    });
    return clique::test::division::run(options, checking);
  } catch (const std::exception& error) {
    std::printf("%s\n%s", error.what(), clique::test::division::kUsage);
    return 2;
  }
}
