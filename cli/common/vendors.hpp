// The OpenCL drivers that loaders find on this host.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace clique::cli {

/// A driver that is registered with OpenCL's loaders.
struct Vendor {
  std::filesystem::path file;  ///< the .icd file; empty: a variable names the library itself
  std::string library;         ///< a path, or a name for the dynamic linker; empty: the file is empty
  bool is_clique = false;
};

/// What loaders find: the drivers, and where they look.
struct Vendors {
  std::string place;  ///< a folder, or a file
  std::vector<Vendor> drivers;
  std::string failure;  ///< why loaders find none; empty: they find those
};

/// Looks where OpenCL's loaders look: OCL_ICD_VENDORS (a folder, an .icd file or a library), otherwise
/// /etc/OpenCL/vendors; and OCL_ICD_FILENAMES (libraries).
Vendors registered_vendors();

/// What OCL_ICD_VENDORS has to be for OpenCL's loaders to find the Clique that belongs to this program: the
/// folder with its .icd file, or else the library. Empty if neither exists.
std::filesystem::path own_vendors();

/// Makes OpenCL's loaders find Clique, unless they do already. Throws Failed.
void register_clique();

}  // namespace clique::cli
