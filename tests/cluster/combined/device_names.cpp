// Prints the name and the number of compute units of each device, one a line.
#include <array>

#include "program.hpp"

int main() {
  for (cl_device_id device : program::all_devices()) {
    std::array<char, 512> name{};
    cl_uint units = 0;
    program::check(clGetDeviceInfo(device, CL_DEVICE_NAME, name.size(), name.data(), nullptr),
                   "clGetDeviceInfo");
    program::check(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr),
                   "clGetDeviceInfo");
    std::printf("%s|%u\n", name.data(), units);
  }
  return 0;
}
