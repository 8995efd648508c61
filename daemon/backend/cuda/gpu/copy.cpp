#include "daemon/backend/cuda/gpu/copy.hpp"

namespace clique::daemon::cuda {

void copy(const Place& from, const Place& to, const std::array<std::size_t, 3>& region, CUstream stream) {
  if (region[0] == 0 || region[1] == 0 || region[2] == 0) return;
  CUDA_MEMCPY3D all{};
  // The origin in linear memory is added to the address: CUDA could not express it if the slice pitch is not
  // a multiple of the row pitch.
  const auto linear = [](const Place& place) {
    return place.origin[0] + place.origin[1] * place.row_pitch + place.origin[2] * place.slice_pitch;
  };
  const auto height = [&region](const Place& place) {
    return region[2] > 1 && place.row_pitch != 0 ? place.slice_pitch / place.row_pitch : region[1];
  };
  if (from.array != nullptr) {
    all.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    all.srcArray = from.array;
    all.srcXInBytes = from.origin[0];
    all.srcY = from.origin[1];
    all.srcZ = from.origin[2];
  } else {
    all.srcMemoryType = from.host != nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (from.host != nullptr)
      all.srcHost = from.host + linear(from);
    else
      all.srcDevice = from.device + linear(from);
    all.srcPitch = from.row_pitch;
    all.srcHeight = height(from);
  }
  if (to.array != nullptr) {
    all.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    all.dstArray = to.array;
    all.dstXInBytes = to.origin[0];
    all.dstY = to.origin[1];
    all.dstZ = to.origin[2];
  } else {
    all.dstMemoryType = to.host != nullptr ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (to.host != nullptr)
      all.dstHost = to.host + linear(to);
    else
      all.dstDevice = to.device + linear(to);
    all.dstPitch = to.row_pitch;
    all.dstHeight = height(to);
  }
  all.WidthInBytes = region[0];
  all.Height = region[1];
  all.Depth = region[2];
  // Slices whose distance is not a whole number of rows are copied one by one.
  const bool uneven = (from.row_pitch != 0 && from.slice_pitch % from.row_pitch != 0) ||
                      (to.row_pitch != 0 && to.slice_pitch % to.row_pitch != 0);
  if (region[2] == 1 || !uneven) {
    CLIQUE_CUDA(Memcpy3DAsync(&all, stream));
    return;
  }
  Place from_slice = from;
  Place to_slice = to;
  for (std::size_t z = 0; z < region[2]; ++z) {
    copy(from_slice, to_slice, {region[0], region[1], 1}, stream);
    ++from_slice.origin[2];
    ++to_slice.origin[2];
  }
}

}  // namespace clique::daemon::cuda
