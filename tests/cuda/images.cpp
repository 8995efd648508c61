#include <numeric>

#include "session.hpp"

namespace clique::test {
namespace {

/// Two images of the same kind: with pixels, and empty.
constexpr ObjectId kSourceImage = 20;
constexpr ObjectId kTarget = 21;

class CudaImages : public testing::TestWithParam<cl_mem_object_type> {
 protected:
  void SetUp() override {
    constexpr ObjectId kOtherContext = 100;
    client_.send(CreateContext{kOtherContext, {0}});
    switch (GetParam()) {
      case CL_MEM_OBJECT_IMAGE1D:
        extent_ = {37, 1, 1};
        break;
      case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        extent_ = {37, 11, 1};
        break;
      case CL_MEM_OBJECT_IMAGE2D:
        extent_ = {37, 19, 1};
        break;
      default:
        extent_ = {37, 19, 11};
    }
    const bool three = GetParam() == CL_MEM_OBJECT_IMAGE3D;
    const bool planar = GetParam() != CL_MEM_OBJECT_IMAGE1D && GetParam() != CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const Triple own{extent_[0], planar ? extent_[1] : 1, three ? extent_[2] : 1};
    for (const ObjectId id : {kSourceImage, kTarget})
      client_.send(
          CreateImage{id, kContext, CL_MEM_READ_WRITE, CL_RGBA, CL_UNSIGNED_INT16, GetParam(), own,
                      GetParam() == CL_MEM_OBJECT_IMAGE1D_ARRAY || GetParam() == CL_MEM_OBJECT_IMAGE2D_ARRAY
                          ? std::uint64_t{11}
                          : std::uint64_t{0},
                      0, 0});
    pixels_.resize(extent_[0] * extent_[1] * extent_[2]);
    std::iota(pixels_.begin(), pixels_.end(), 1U);
    size_ = pixels_.size() * sizeof pixels_[0];
    client_.send(WriteImage{command(1, 0), kSourceImage, {}, extent_, payload(pixels_.data(), size_)});
  }
  std::uint64_t pixel(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return pixels_[(z * extent_[1] + y) * extent_[0] + x];
  }
  std::vector<std::uint64_t> numbers(CommandId id) {
    const auto bytes = client_.data(id);
    std::vector<std::uint64_t> result(bytes.size() / 8);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  FakeNode node_;
  FakeGpuClient client_{node_};
  Triple extent_{};
  std::vector<std::uint64_t> pixels_;
  std::uint64_t size_ = 0;
};

TEST_P(CudaImages, GivenPixelsThenAllAndRegionsAreRead) {
  constexpr CommandId kReadAll = 10, kReadRegion = 11;
  const Triple origin{3, extent_[1] > 1 ? 2U : 0U, extent_[2] > 1 ? 1U : 0U};
  const Triple region{5, extent_[1] > 1 ? 3U : 1U, extent_[2] > 1 ? 4U : 1U};
  client_.send(ReadImage{command(kReadAll), 0, kSourceImage, {}, extent_, size_},
               ReadImage{command(kReadRegion), 0, kSourceImage, origin, region,
                         region[0] * region[1] * region[2] * 8});
  EXPECT_EQ(numbers(kReadAll), pixels_);
  const auto part = numbers(kReadRegion);
  std::size_t i = 0;
  for (std::uint64_t z = 0; z < region[2]; ++z)
    for (std::uint64_t y = 0; y < region[1]; ++y)
      for (std::uint64_t x = 0; x < region[0]; ++x)
        ASSERT_EQ(part[i++], pixel(origin[0] + x, origin[1] + y, origin[2] + z));
}

TEST_P(CudaImages, GivenCopiesThroughABufferAndAnImageThenTheSame) {
  constexpr CommandId kToBuffer = 10, kFromBuffer = 11, kReadAll = 12, kCopy = 13, kReadPixel = 14;
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, size_ + 64},
               CopyImageToBuffer{command(kToBuffer, 0), kSourceImage, kBuffer, {}, extent_, 64},
               CopyBufferToImage{command(kFromBuffer, 0), kBuffer, kTarget, 64, {}, extent_},
               ReadImage{command(kReadAll), 0, kTarget, {}, extent_, size_});
  EXPECT_EQ(numbers(kReadAll), pixels_);
  const Triple region{10, extent_[1] > 1 ? 2U : 1U, extent_[2] > 1 ? 2U : 1U};
  client_.send(CopyImage{command(kCopy, 0),
                         kSourceImage,
                         kTarget,
                         {20, 0, 0},
                         {1, extent_[1] - region[1], extent_[2] - region[2]},
                         region},
               ReadImage{command(kReadPixel),
                         0,
                         kTarget,
                         {1, extent_[1] - region[1], extent_[2] - region[2]},
                         {1, 1, 1},
                         8});
  EXPECT_EQ(numbers(kReadPixel).at(0), pixel(20, 0, 0));
}

TEST_P(CudaImages, GivenColourThenTheRegionIsFilled) {
  constexpr CommandId kFill = 10, kReadAll = 11;
  const std::array<std::uint32_t, 4> color{1, 2, 3, 70000};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(color.data());
  client_.send(
      FillImage{
          command(kFill, 0), kSourceImage, Bytes(bytes, bytes + 16), {30, 0, 0}, {7, extent_[1], extent_[2]}},
      ReadImage{command(kReadAll), 0, kSourceImage, {}, extent_, size_});
  const auto all = numbers(kReadAll);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], i % 37 >= 30 ? 0xFFFF000300020001U : pixels_[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(Types, CudaImages,
                         testing::Values(CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                         CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                         CL_MEM_OBJECT_IMAGE3D));

}  // namespace
}  // namespace clique::test
