#include "cli/common/vendors.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "cli/common/commands.hpp"

namespace clique::cli {

namespace {

constexpr const char* kDefaultVendors = "/etc/OpenCL/vendors";

std::string variable_text(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

Vendor vendor_of_library(std::string library) {
  Vendor vendor;
  vendor.is_clique = std::filesystem::path(library).filename().string().starts_with("libclique.so");
  vendor.library = std::move(library);
  return vendor;
}

Vendor vendor_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string library;
  std::getline(stream, library);
  while (!library.empty() && (library.back() == '\r' || library.back() == ' ')) library.pop_back();
  Vendor vendor = vendor_of_library(std::move(library));
  vendor.file = file;
  return vendor;
}

}  // namespace

Vendors registered_vendors() {
  Vendors result;
  result.place = variable_text("OCL_ICD_VENDORS");
  if (result.place.empty()) result.place = kDefaultVendors;
  const std::filesystem::path place(result.place);
  std::error_code error;
  if (std::filesystem::is_directory(place, error)) {
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator each(place, error), end; !error && each != end;
         each.increment(error))
      if (each->path().extension() == ".icd") files.push_back(each->path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) result.drivers.push_back(vendor_of_file(file));
    if (error) result.failure = error.message();
  } else if (place.extension() == ".icd" && std::filesystem::exists(place, error)) {
    result.drivers.push_back(vendor_of_file(place));
  } else if (place.filename().string().find(".so") != std::string::npos) {
    result.drivers.push_back(vendor_of_library(result.place));
  } else {
    result.failure = "it does not exist";
  }
  std::istringstream more(variable_text("OCL_ICD_FILENAMES"));
  for (std::string library; std::getline(more, library, ':');)
    if (!library.empty()) result.drivers.push_back(vendor_of_library(library));
  return result;
}

std::filesystem::path own_vendors() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe", error).parent_path();
  // The build folder; an installation below a prefix.
  for (const char* relative : {"../icd", "../etc/OpenCL/vendors"})
    if (std::filesystem::exists(folder / relative / "clique.icd", error))
      return (folder / relative).lexically_normal();
  // A copy of an installation in another folder, whose clique.icd would name the old one.
  const std::filesystem::path library = folder / "../lib/libclique.so";
  return std::filesystem::exists(library, error) ? library.lexically_normal() : std::filesystem::path();
}

void register_clique() {
  const Vendors vendors = registered_vendors();
  if (std::any_of(vendors.drivers.begin(), vendors.drivers.end(),
                  [](const Vendor& vendor) { return vendor.is_clique; }))
    return;
  const std::filesystem::path own = own_vendors();
  if (own.empty())
    throw Failed("no file in " + vendors.place +
                 " registers Clique with OpenCL's loaders, and this program's installation has none either; "
                 "install libclique, or set OCL_ICD_VENDORS to the folder with clique.icd");
  ::setenv("OCL_ICD_VENDORS", own.c_str(), 1);
}

}  // namespace clique::cli
