// Images in kernels: every type of image in every format that the device supports, read with every kind of
// sampler, written, and both, compared with the specification's formulas.
#include <cmath>
#include <random>
#include <sstream>

#include "../gpu.hpp"
#include "sampling.hpp"

namespace clique::test {

/// A type of images.
struct ImageKind {
  const char* type;         ///< in OpenCL C
  const char* coordinates;  ///< the components of a vector of 4 that its functions take
  cl_mem_object_type object;
  int dimensions;
  int layered = 3;
  bool depth = false;
  bool in_buffer = false;  ///< whether it is a 2D image over a buffer (cl_khr_image2d_from_buffer)
};

namespace {

const ImageKind kKinds[] = {
    {"image1d_t", ".x", CL_MEM_OBJECT_IMAGE1D, 1},
    {"image1d_array_t", ".xy", CL_MEM_OBJECT_IMAGE1D_ARRAY, 2, 1},
    {"image2d_t", ".xy", CL_MEM_OBJECT_IMAGE2D, 2},
    {"image2d_array_t", "", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3, 2},
    {"image3d_t", "", CL_MEM_OBJECT_IMAGE3D, 3},
    {"image1d_buffer_t", ".x", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1},
    {"image2d_depth_t", ".xy", CL_MEM_OBJECT_IMAGE2D, 2, 3, true},
    {"image2d_array_depth_t", "", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3, 2, true},
    {"image2d_t", ".xy", CL_MEM_OBJECT_IMAGE2D, 2, 3, false, true},
};

// The SUFFIX of the functions' names, and the vector type V that they return.
const char* const kSampling = R"(
  #define SAMPLE(SUFFIX, V) \
    kernel void sample_##SUFFIX(read_only IMAGE image, sampler_t sampler, global const float4* c, global V* out) { \
      const size_t i = get_global_id(0); \
      out[i] = TO_VECTOR(read_image##SUFFIX(image, sampler, c[i] COORDINATES)); } \
    kernel void sample_at_##SUFFIX(read_only IMAGE image, sampler_t sampler, global const int4* c, \
                                   global V* out) { \
      const size_t i = get_global_id(0); \
      out[i] = TO_VECTOR(read_image##SUFFIX(image, sampler, c[i] COORDINATES)); }
  ALL(SAMPLE)
)";
const char* const kFetching = R"(
  #define FETCH(SUFFIX, V) \
    kernel void fetch_##SUFFIX(read_only IMAGE image, global const int4* c, global V* out) { \
      const size_t i = get_global_id(0); \
      out[i] = TO_VECTOR(read_image##SUFFIX(image, c[i] COORDINATES)); }
  ALL(FETCH)
)";
const char* const kWriting = R"(
  #define STORE(SUFFIX, V) \
    kernel void store_##SUFFIX(write_only IMAGE image, global const int4* c, global const V* colours) { \
      const size_t i = get_global_id(0); \
      write_image##SUFFIX(image, c[i] COORDINATES, FROM_VECTOR(colours[i])); }
  ALL(STORE)
)";
const char* const kReadingAndWriting = R"(
  #define TURN(SUFFIX, V) \
    kernel void turn_##SUFFIX(read_write IMAGE image, global const int4* c, global V* out) { \
      const size_t i = get_global_id(0); \
      const V colour = TO_VECTOR(read_image##SUFFIX(image, c[i] COORDINATES)); \
      out[i] = colour; \
      write_image##SUFFIX(image, c[i] COORDINATES, FROM_VECTOR(colour.wxyz)); }
  ALL(TURN)
)";
const char* const kQuery = R"(
  kernel void query(read_only IMAGE image, global int* out) {
    out[0] = get_image_width(image);
    out[1] = get_image_channel_data_type(image);
    out[2] = get_image_channel_order(image);
    #if DIMENSIONS > 1 && LAYERED != 1
      out[3] = get_image_height(image);
    #endif
    #if DIMENSIONS == 3 && LAYERED == 3
      out[4] = get_image_depth(image);
    #endif
    #if LAYERED != 3
      out[5] = (int)get_image_array_size(image);
    #endif
  })";

std::string source_for(const ImageKind& kind, const std::string& kernels) {
  std::ostringstream source;
  source << "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n"
         << "#pragma OPENCL EXTENSION cl_khr_depth_images : enable\n"
         << "#define IMAGE " << kind.type << "\n#define COORDINATES " << kind.coordinates
         << "\n#define DIMENSIONS " << kind.dimensions << "\n#define LAYERED " << kind.layered << '\n';
  if (kind.depth) {
    source << "#define TO_VECTOR(depth) (float4)(depth, 0, 0, 1)\n#define FROM_VECTOR(v) (v).x\n"
           << "#define ALL(M) M(f, float4)\n";
  } else {
    source << "#define TO_VECTOR(v) (v)\n#define FROM_VECTOR(v) (v)\n"
           << "#define ALL(M) M(f, float4) M(i, int4) M(ui, uint4)\n";
  }
  return source.str() + kernels;
}

std::string text_of(const Colour& colour) {
  std::ostringstream text;
  text.precision(9);
  text << "(" << colour[0] << ", " << colour[1] << ", " << colour[2] << ", " << colour[3] << ")";
  return text.str();
}

template <typename T>
std::string text_of(const std::array<T, 3>& at, int dimensions) {
  std::ostringstream text;
  text.precision(9);
  text << "[";
  for (int d = 0; d < dimensions; ++d) text << (d != 0 ? ", " : "") << at[d];
  text << "]";
  return text.str();
}

/// Collects the errors of one format and sampler, and reports them once, with the first examples.
class Findings {
 public:
  explicit Findings(std::string subject) : subject_(std::move(subject)) {}
  ~Findings() {
    if (wrong_ != 0) ADD_FAILURE() << subject_ << ": " << wrong_ << " of " << all_ << " wrong\n" << examples_;
  }
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  template <typename Describe>
  void add(bool right, Describe describe) {
    ++all_;
    if (right) return;
    if (++wrong_ <= 4) examples_ += "  " + describe() + "\n";
  }

 private:
  std::string subject_;
  int all_ = 0, wrong_ = 0;
  std::string examples_;
};

}  // namespace

class Images : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT) == CL_FALSE)
      GTEST_SKIP() << "no images";
  }

  std::vector<cl_image_format> formats(const ImageKind& kind, cl_mem_flags flags) {
    cl_uint count = 0;
    EXPECT_CL(clGetSupportedImageFormats(context, flags, kind.object, 0, nullptr, &count));
    std::vector<cl_image_format> all(count), wanted;
    EXPECT_CL(clGetSupportedImageFormats(context, flags, kind.object, count, all.data(), nullptr));
    for (const cl_image_format& format : all)
      if (Texels::is_known(format) && (format.image_channel_order == CL_DEPTH) == kind.depth)
        wanted.push_back(format);
    return wanted;
  }

  static HostImage host_image(const ImageKind& kind, const Texels& texels) {
    HostImage image;
    constexpr std::array<int, 3> kSize = {13, 7, 5};
    image.dimensions = kind.dimensions;
    image.layered = kind.layered;
    for (int d = 0; d < kind.dimensions; ++d) image.size[d] = kSize[d];
    image.data.resize(image.count() * texels.size());
    std::mt19937_64 random(image.data.size());
    for (size_t i = 0; i < image.count(); ++i) texels.fill(image.data.data() + i * texels.size(), random());
    return image;
  }

  Mem make_image(const ImageKind& kind, const cl_image_format& format, const HostImage& host,
                 cl_mem_flags access) {
    cl_image_desc desc{};
    desc.image_type = kind.object;
    desc.image_width = static_cast<size_t>(host.size[0]);
    if (kind.layered == 3) {
      desc.image_height = static_cast<size_t>(host.size[1]);
      desc.image_depth = static_cast<size_t>(host.size[2]);
    } else {
      desc.image_height = kind.layered == 2 ? static_cast<size_t>(host.size[1]) : 0;
      desc.image_array_size = static_cast<size_t>(host.size[kind.layered]);
    }
    cl_int err = CL_SUCCESS;
    if (kind.in_buffer) {
      const size_t row = host.data.size() / static_cast<size_t>(host.size[1]);
      const size_t step =
          info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT) * Texels(format).size();
      desc.image_row_pitch = (row + step - 1) / step * step;
      std::vector<std::uint8_t> rows(desc.image_row_pitch * static_cast<size_t>(host.size[1]));
      for (size_t y = 0; y < static_cast<size_t>(host.size[1]); ++y)
        std::copy_n(host.data.begin() + static_cast<std::ptrdiff_t>(y * row), row,
                    rows.begin() + static_cast<std::ptrdiff_t>(y * desc.image_row_pitch));
      const Mem bytes = buffer(rows.size(), rows.data());
      desc.mem_object = bytes;
      Mem image(clCreateImage(context, access, &format, &desc, nullptr, &err));
      EXPECT_EQ(CL_SUCCESS, err) << "over a buffer, " << Texels(format).name();
      return image;
    }
    if (kind.object == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
      // The image keeps a reference to its buffer.
      const Mem bytes = buffer(host.data.size(), host.data.data());
      desc.mem_object = bytes;
      Mem image(clCreateImage(context, access, &format, &desc, nullptr, &err));
      EXPECT_EQ(CL_SUCCESS, err) << kind.type << " " << Texels(format).name();
      return image;
    }
    Mem image(clCreateImage(context, access | CL_MEM_COPY_HOST_PTR, &format, &desc,
                            const_cast<std::uint8_t*>(host.data.data()), &err));
    EXPECT_EQ(CL_SUCCESS, err) << kind.type << " " << Texels(format).name();
    return image;
  }

  std::vector<std::uint8_t> read_image(cl_mem image, const HostImage& host) {
    const size_t origin[3] = {};
    const size_t region[3] = {static_cast<size_t>(host.size[0]), static_cast<size_t>(host.size[1]),
                              static_cast<size_t>(host.size[2])};
    std::vector<std::uint8_t> data(host.data.size());
    EXPECT_CL(
        clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, data.data(), 0, nullptr, nullptr));
    return data;
  }

  static const char* suffix(Numbers numbers) {
    return numbers == Numbers::Float ? "_f" : numbers == Numbers::Signed ? "_i" : "_ui";
  }

  /// Reads `out` as read_imagef, read_imagei or read_imageui wrote it.
  std::vector<Colour> colours(cl_mem out, size_t count, Numbers numbers) {
    std::vector<Colour> result(count);
    const auto take = [&](const auto& raw) {
      for (size_t i = 0; i < 4 * count; ++i) result[i / 4][i % 4] = static_cast<double>(raw[i]);
    };
    if (numbers == Numbers::Float) take(read<float>(out, 4 * count));
    if (numbers == Numbers::Signed) take(read<cl_int>(out, 4 * count));
    if (numbers == Numbers::Unsigned) take(read<cl_uint>(out, 4 * count));
    return result;
  }

  template <typename T>
  static std::vector<T> vectors_of_4(const std::vector<std::array<T, 3>>& coordinates) {
    std::vector<T> flat;
    for (const auto& c : coordinates) flat.insert(flat.end(), {c[0], c[1], c[2], T{}});
    return flat;
  }

  /// Makes an image with random texels.
  struct Case {
    const ImageKind& kind;
    Texels texels;
    HostImage host;
    Mem image;

    std::string name() const {
      return std::string(kind.type) + (kind.in_buffer ? " over a buffer " : " ") + texels.name();
    }
  };

  Case make_case(const ImageKind& kind, const cl_image_format& format, cl_mem_flags access) {
    const Texels texels(format);
    HostImage host = host_image(kind, texels);
    Mem image = make_image(kind, format, host, access);
    return {kind, texels, std::move(host), std::move(image)};
  }

  /// Calls `check` with an image in each format and the program's kernel for its type of numbers.
  template <typename Check>
  void for_each_format(const ImageKind& kind, cl_program program, const std::string& kernel_name,
                       cl_mem_flags supported, cl_mem_flags access, Check check) {
    for (const cl_image_format& format : formats(kind, supported)) {
      const Case image = make_case(kind, format, access);
      const Kernel made = kernel(program, (kernel_name + suffix(image.texels.numbers())).c_str());
      check(image, made);
    }
  }

  /// Returns what the kernel reads. Coordinates and colours are its last arguments; `args` are the ones
  /// between the image and those.
  template <typename T, typename... Args>
  std::vector<Colour> read_at(cl_kernel reading, const Case& image, const std::vector<std::array<T, 3>>& at,
                              const Args&... args) {
    const auto flat = vectors_of_4(at);
    const Mem in = buffer(flat.size(), flat.data());
    const Mem out = buffer<cl_uint>(flat.size());
    set_args(reading, image.image, args..., in, out);
    EXPECT_CL(launch(reading, at.size()));
    return colours(out, at.size(), image.texels.numbers());
  }

  static bool near(const Colour& got, const Colour& expected, const Texels& texels,
                   const Colour& freedom = {}) {
    for (size_t c = 0; c < 4; ++c)
      if (!(std::abs(got[c] - expected[c]) <= texels.tolerance(expected[c], c) + freedom[c])) return false;
    return true;
  }

  /// Compares what the kernel read with what the sampler has to return at the positions.
  template <typename T>
  static void compare(const std::string& how, const Case& image, const SamplerState& sampler,
                      const std::vector<std::array<T, 3>>& at,
                      const std::vector<std::array<float, 3>>& positions, const std::vector<Colour>& got) {
    Findings findings(image.name() + " " + how + ", " + sampler.name());
    for (size_t i = 0; i < at.size(); ++i) {
      Colour freedom{};
      const Colour expected = sample(image.host, image.texels, sampler, positions[i], freedom);
      // The hardware's weights have 8 bits in each dimension.
      for (double& f : freedom) f = sampler.filter == CL_FILTER_LINEAR ? f * image.kind.dimensions / 128 : 0;
      findings.add(near(got[i], expected, image.texels, freedom), [&] {
        return text_of(at[i], image.kind.dimensions) + " gave " + text_of(got[i]) + ", not " +
               text_of(expected);
      });
    }
  }

  /// Every texel once.
  static std::vector<std::array<cl_int, 3>> every_texel(const HostImage& host) {
    std::vector<std::array<cl_int, 3>> result;
    for (int z = 0; z < host.size[2]; ++z)
      for (int y = 0; y < host.size[1]; ++y)
        for (int x = 0; x < host.size[0]; ++x) result.push_back({x, y, z});
    return result;
  }

  /// Positions inside of the image and, if the sampler defines that, around it. They keep a distance from the
  /// borders of texels, where the result depends on the hardware's precision.
  static std::vector<std::array<float, 3>> positions(const HostImage& host, const SamplerState& sampler) {
    std::mt19937 random(7);
    std::vector<std::array<float, 3>> result;
    for (int i = 0; i < 400; ++i) {
      std::array<float, 3> at{};
      for (int d = 0; d < host.dimensions; ++d) {
        const int size = host.size[d];
        const float part = static_cast<float>(1 + random() % 7) / 8;
        if (d == host.layered) {
          at[d] = static_cast<float>(static_cast<int>(random() % (size + 4)) - 2) + (part - 0.5F) * 0.9F;
          continue;
        }
        const bool inside = sampler.addressing == CL_ADDRESS_NONE;
        const int margin = inside ? 0 : 3;
        float u = static_cast<float>(static_cast<int>(random() % (size + 2 * margin)) - margin) + part;
        if (inside && sampler.filter == CL_FILTER_LINEAR)
          u = std::clamp(u, 0.5F, static_cast<float>(size) - 0.5F);
        at[d] = sampler.normalised ? u / static_cast<float>(size) : u;
      }
      result.push_back(at);
    }
    return result;
  }

  static std::vector<SamplerState> samplers(bool linear) {
    std::vector<SamplerState> all;
    for (const cl_filter_mode filter : {CL_FILTER_NEAREST, CL_FILTER_LINEAR}) {
      if (filter == CL_FILTER_LINEAR && !linear) continue;
      for (const cl_addressing_mode mode : {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                            CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT}) {
        if (mode != CL_ADDRESS_REPEAT && mode != CL_ADDRESS_MIRRORED_REPEAT)
          all.push_back({false, mode, filter});
        all.push_back({true, mode, filter});
      }
    }
    return all;
  }

  Sampler make_sampler(const SamplerState& state) {
    cl_int err = CL_SUCCESS;
    Sampler sampler(clCreateSampler(context, state.normalised ? CL_TRUE : CL_FALSE, state.addressing,
                                    state.filter, &err));
    EXPECT_EQ(CL_SUCCESS, err) << state.name();
    return sampler;
  }

  void check_sampling(const ImageKind& kind) {
    const Program program = build(source_for(kind, kSampling).c_str(), "-cl-std=CL1.2");
    for_each_format(kind, program, "sample", CL_MEM_READ_ONLY, CL_MEM_READ_ONLY,
                    [&](const Case& image, cl_kernel sampling) {
                      for (const SamplerState& state : samplers(image.texels.numbers() == Numbers::Float)) {
                        const Sampler sampler = make_sampler(state);
                        const auto at = positions(image.host, state);
                        compare("with float coordinates", image, state, at, at,
                                read_at(sampling, image, at, sampler));
                      }
                    });
  }

  /// The centres of texels; a layer is given by its number.
  static std::vector<std::array<float, 3>> centres(const ImageKind& kind,
                                                   const std::vector<std::array<cl_int, 3>>& texels) {
    std::vector<std::array<float, 3>> result;
    for (const auto& texel : texels) {
      auto& centre = result.emplace_back();
      for (int d = 0; d < kind.dimensions; ++d)
        centre[d] = static_cast<float>(texel[d]) + (d == kind.layered ? 0.0F : 0.5F);
    }
    return result;
  }

  void check_sampling_at_integers(const ImageKind& kind) {
    const Program program = build(source_for(kind, kSampling).c_str(), "-cl-std=CL1.2");
    for_each_format(kind, program, "sample_at", CL_MEM_READ_ONLY, CL_MEM_READ_ONLY,
                    [&](const Case& image, cl_kernel sampling) {
                      for (const cl_addressing_mode mode :
                           {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP}) {
                        const SamplerState state{false, mode, CL_FILTER_NEAREST};
                        const Sampler sampler = make_sampler(state);
                        auto at = every_texel(image.host);
                        if (mode != CL_ADDRESS_NONE)
                          for (auto& c : at)
                            for (int d = 0; d < kind.dimensions; ++d)
                              c[d] = c[d] * 2 - image.host.size[d] / 2;
                        compare("with int coordinates", image, state, at, centres(kind, at),
                                read_at(sampling, image, at, sampler));
                      }
                    });
  }

  void check_fetching(const ImageKind& kind) {
    const Program program = build(source_for(kind, kFetching).c_str(), "-cl-std=CL1.2");
    for_each_format(kind, program, "fetch", CL_MEM_READ_ONLY, CL_MEM_READ_ONLY,
                    [&](const Case& image, cl_kernel fetching) {
                      const auto at = every_texel(image.host);
                      compare("without a sampler", image, {}, at, centres(kind, at),
                              read_at(fetching, image, at));
                    });
  }

  /// Colours inside and outside of the formats' ranges.
  static std::vector<Colour> colours_to_write(size_t count, Numbers numbers) {
    std::mt19937 random(11);
    std::vector<Colour> result(count);
    for (size_t i = 0; i < 4 * count; ++i) {
      double& number = result[i / 4][i % 4];
      if (numbers == Numbers::Float) {
        number = static_cast<float>(static_cast<int>(random() % 20001) - 10000) / 8000.0F;
      } else {
        const auto bits = static_cast<std::uint32_t>(random()) >> (random() % 32);
        number = numbers == Numbers::Signed ? static_cast<double>(static_cast<std::int32_t>(bits)) *
                                                  (random() % 2 == 0 || bits == 0x80000000U ? 1 : -1)
                                            : static_cast<double>(bits);
      }
    }
    return result;
  }

  Mem colour_buffer(const std::vector<Colour>& colours, Numbers numbers) {
    std::vector<cl_uint> raw;
    for (const Colour& colour : colours) {
      for (const double number : colour) {
        raw.push_back(numbers == Numbers::Float    ? std::bit_cast<cl_uint>(static_cast<float>(number))
                      : numbers == Numbers::Signed ? static_cast<cl_uint>(static_cast<cl_int>(number))
                                                   : static_cast<cl_uint>(number));
      }
    }
    return buffer(raw.size(), raw.data());
  }

  void check_writing(const ImageKind& kind) {
    const Program program = build(source_for(kind, kWriting).c_str(), "-cl-std=CL1.2");
    for_each_format(kind, program, "store", CL_MEM_WRITE_ONLY, CL_MEM_WRITE_ONLY,
                    [&](const Case& image, cl_kernel storing) {
                      const Texels& texels = image.texels;
                      const auto at = every_texel(image.host);
                      const auto flat = vectors_of_4(at);
                      const auto written = colours_to_write(at.size(), texels.numbers());
                      const Mem in = buffer(flat.size(), flat.data());
                      const Mem values = colour_buffer(written, texels.numbers());
                      set_args(storing, image.image, in, values);
                      ASSERT_CL(launch(storing, at.size()));
                      const auto got = read_image(image.image, image.host);
                      Findings findings(image.name() + " written");
                      for (size_t i = 0; i < at.size(); ++i) {
                        findings.add(texels.may_encode(got.data() + i * texels.size(), written[i]), [&] {
                          return text_of(at[i], kind.dimensions) + " became " +
                                 text_of(texels.decode(got.data() + i * texels.size())) + ", not " +
                                 text_of(written[i]);
                        });
                      }
                    });
  }

  void check_reading_and_writing(const ImageKind& kind) {
    const Program program = build(source_for(kind, kReadingAndWriting).c_str(), "-cl-std=CL3.0");
    for_each_format(kind, program, "turn", CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_READ_WRITE,
                    [&](const Case& image, cl_kernel turning) {
                      const Texels& texels = image.texels;
                      const auto at = every_texel(image.host);
                      const auto read_colours = read_at(turning, image, at);
                      const auto got = read_image(image.image, image.host);
                      Findings findings(image.name() + " read and written");
                      for (size_t i = 0; i < at.size(); ++i) {
                        const Colour expected = texels.decode(image.host.data.data() + i * texels.size());
                        const Colour turned = {expected[3], expected[0], expected[1], expected[2]};
                        const std::uint8_t* const texel = got.data() + i * texels.size();
                        findings.add(
                            near(read_colours[i], expected, texels) && texels.may_encode(texel, turned), [&] {
                              return text_of(at[i], kind.dimensions) + " gave " + text_of(read_colours[i]) +
                                     ", not " + text_of(expected) + ", and became " +
                                     text_of(texels.decode(texel)) + ", not " + text_of(turned);
                            });
                      }
                    });
  }

  void check_queries(const ImageKind& kind) {
    const Program program = build(source_for(kind, kQuery).c_str(), "-cl-std=CL1.2");
    const Kernel query = kernel(program, "query");
    for (const cl_image_format& format : formats(kind, CL_MEM_READ_ONLY)) {
      const Case image = make_case(kind, format, CL_MEM_READ_ONLY);
      const HostImage& host = image.host;
      const std::vector<cl_int> nothing(6, -1);
      const Mem out = buffer(nothing.size(), nothing.data());
      set_args(query, image.image, out);
      ASSERT_CL(launch(query, 1));
      std::vector<cl_int> expected = nothing;
      expected[0] = host.size[0];
      expected[1] = static_cast<cl_int>(format.image_channel_data_type);
      expected[2] = static_cast<cl_int>(format.image_channel_order);
      if (kind.dimensions > 1 && kind.layered != 1) expected[3] = host.size[1];
      if (kind.dimensions == 3 && kind.layered == 3) expected[4] = host.size[2];
      if (kind.layered != 3) expected[5] = host.size[kind.layered];
      EXPECT_EQ(expected, read<cl_int>(out, expected.size())) << image.name();
    }
  }

  bool is_offered(const ImageKind& kind) {
    if (kind.in_buffer && !has_extension("cl_khr_image2d_from_buffer")) return false;
    return !formats(kind, CL_MEM_READ_ONLY).empty();
  }
  static bool has_samplers(const ImageKind& kind) { return kind.object != CL_MEM_OBJECT_IMAGE1D_BUFFER; }
};

TEST_F(Images, GivenFloatCoordinatesWhenSampledThenAsTheFormulasSay) {
  for (const ImageKind& kind : kKinds)
    if (is_offered(kind) && has_samplers(kind)) check_sampling(kind);
}

TEST_F(Images, GivenIntegerCoordinatesWhenSampledThenAsTheFormulasSay) {
  for (const ImageKind& kind : kKinds)
    if (is_offered(kind) && has_samplers(kind)) check_sampling_at_integers(kind);
}

TEST_F(Images, GivenNoSamplerWhenReadThenTheTexels) {
  for (const ImageKind& kind : kKinds)
    if (is_offered(kind)) check_fetching(kind);
}

TEST_F(Images, GivenColoursWhenWrittenThenTheFormatsTexels) {
  for (const ImageKind& kind : kKinds) {
    if (!is_offered(kind)) continue;
    if (kind.object == CL_MEM_OBJECT_IMAGE3D && !has_extension("cl_khr_3d_image_writes")) continue;
    check_writing(kind);
  }
}

TEST_F(Images, GivenReadWriteImagesThenTexelsAreReadAndWritten) {
  if (!has_opencl_c_3() || info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS) == 0)
    GTEST_SKIP() << "no images that are read and written";
  for (const ImageKind& kind : kKinds)
    if (is_offered(kind)) check_reading_and_writing(kind);
}

TEST_F(Images, GivenQueriesThenTheImagesProperties) {
  for (const ImageKind& kind : kKinds)
    if (is_offered(kind)) check_queries(kind);
}

// A sampler in a kernel may also be a constant.
TEST_F(Images, GivenSamplersInTheProgramThenAsTheFormulasSay) {
  const Case image = make_case(kKinds[2], {CL_RGBA, CL_FLOAT}, CL_MEM_READ_ONLY);
  const auto constant = [](const SamplerState& state) {
    std::string text = state.normalised ? "CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_"
                                        : "CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_";
    const std::string name = state.name();
    const size_t begin = name.find(' ') + 1;
    text += name.substr(begin, name.rfind(' ') - begin);
    return text + " | CLK_FILTER_" + name.substr(name.rfind(' ') + 1);
  };
  for (const SamplerState& state : samplers(true)) {
    const std::string source =
        "constant sampler_t outside = " + constant(state) +
        ";\n"
        "kernel void k(read_only image2d_t image, global const float4* c, global float4* out) {\n"
        "  const sampler_t inside = " +
        constant(state) +
        ";\n"
        "  const size_t i = get_global_id(0);\n"
        "  out[i] = i % 2 == 0 ? read_imagef(image, outside, c[i].xy)"
        " : read_imagef(image, inside, c[i].xy); }";
    const Program program = build(source.c_str());
    const Kernel k = kernel(program, "k");
    const auto at = positions(image.host, state);
    compare("with samplers in the program", image, state, at, at, read_at(k, image, at));
  }
}

}  // namespace clique::test
