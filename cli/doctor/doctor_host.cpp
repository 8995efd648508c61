#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/common/vendors.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/output/node_view.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "protocol/printable.hpp"
#include "protocol/security/identity.hpp"
#include "protocol/streams/ucx_channel.hpp"

namespace clique::cli::doctor {

namespace {

using protocol::printable;

/// Less free space than this makes programs or drivers fail.

/// Whether a file names a library that certainly does not exist. Names without a folder are searched by the
/// dynamic linker, which the check through OpenCL's loader covers.
bool is_missing(const std::string& library) {
  std::error_code error;
  return library.find('/') != std::string::npos && !std::filesystem::exists(library, error);
}

std::string described(const Vendor& vendor) {
  return printable(vendor.file.empty() ? vendor.library : vendor.file.string());
}

void check_vendors(bool has_nodes, Findings& findings) {
  const Vendors vendors = registered_vendors();
  const std::string place = printable(vendors.place);
  const std::string subject = "OpenCL drivers in " + place;
  if (!vendors.failure.empty())
    findings.push_back(
        {Verdict::Bad, subject, vendors.failure,
         "set OCL_ICD_VENDORS to a folder with .icd files, or unset it to use /etc/OpenCL/vendors"});
  std::string cliques;
  std::string others;
  std::size_t count = 0;
  for (const Vendor& vendor : vendors.drivers) {
    if (vendor.library.empty())
      findings.push_back({Verdict::Bad, described(vendor), "the file names no library",
                          "write the library's path into it, or remove it"});
    else if (is_missing(vendor.library))
      findings.push_back({Verdict::Bad, described(vendor),
                          "it names " + printable(vendor.library) + ", which does not exist",
                          "install that driver again, or remove the file"});
    std::string& list = vendor.is_clique ? cliques : others;
    list += (list.empty() ? "" : ", ") + described(vendor);
    if (vendor.is_clique) ++count;
  }
  if (count == 0)
    findings.push_back({Verdict::Bad, subject, "none of them is Clique, so programs do not see it",
                        "install libclique, or start programs with 'clique run'"});
  else if (count > 1)
    findings.push_back({Verdict::Bad, subject,
                        "Clique is registered " + std::to_string(count) + " times: " + cliques,
                        "remove all of these files but one; otherwise programs may see its platform twice"});
  else
    findings.push_back({Verdict::Good, subject, "Clique is registered by " + cliques});
  if (others.empty() || has_nodes || count == 0) return;
  findings.push_back(
      {Verdict::Open, "other OpenCL drivers",
       "programs see this host's devices twice: through Clique, and directly through " + others,
       "this does no harm; to hide the second ones, set OCL_ICD_VENDORS to a file or folder with Clique "
       "alone"});
}

void check_settings(const icd::SettingValues& settings, Findings& findings) {
  if (settings.error.empty())
    findings.push_back({Verdict::Good, "settings",
                        settings.file.empty() ? "the environment is valid, and there is no nodes.toml"
                                              : printable(settings.file) + " and the environment are valid"});
  else
    findings.push_back({Verdict::Bad, "settings", printable(settings.error),
                        "correct it; 'clique config' shows all settings"});
  for (const std::string& text : icd::unknown_variables())
    findings.push_back({Verdict::Bad, "environment", printable(text)});
}

void check_keys(const icd::SecuritySettings& security, bool has_nodes, Findings& findings) {
  const std::string file = icd::KeyFiles::of(icd::environment).identity;
  const std::string subject = "this client's key";
  if (security.identity.empty()) {
    findings.push_back({Verdict::Open, subject,
                        "there is none" + (file.empty() ? std::string() : " in " + printable(file)),
                        has_nodes ? "nodes on other hosts admit this client by its key: run 'clique keygen'"
                                  : "only nodes on other hosts need it: 'clique keygen'"});
  } else {
    try {
      const auto key = protocol::Identity::read(security.identity).public_key();
      findings.push_back({Verdict::Good, subject, printable(security.identity) + ", " + key.fingerprint()});
    } catch (const protocol::SecurityError& error) {
      findings.push_back({Verdict::Bad, subject, printable(error.what())});
    }
  }
  for (const std::string& known : security.known_nodes) {
    try {
      const auto read = protocol::KnownNodes::read(known);
      for (const protocol::WrongLine& line : read.wrong)
        findings.push_back({Verdict::Bad, "known nodes",
                            printable(known) + ":" + std::to_string(line.number) + ": " + printable(line.why),
                            "correct the line; until then, no node is used"});
    } catch (const protocol::SecurityError& error) {
      findings.push_back({Verdict::Bad, "known nodes", printable(error.what())});
    }
  }
}

/// Only where programs want it: the library is not loaded otherwise.
void check_ucx(icd::Transport transport, Findings& findings) {
  if (transport != icd::Transport::Ucx) return;
  const std::string& missing = protocol::ucx_missing();
  if (missing.empty())
    findings.push_back(
        {Verdict::Good, "UCX", "it can be opened; whether it reaches the nodes, programs find out"});
  else
    findings.push_back({Verdict::Bad, "UCX", "the transport is ucx, but " + printable(missing),
                        "install it, or set the transport to auto"});
}

/// The first folder on the way to a path that exists.
std::filesystem::path existing(std::filesystem::path path) {
  std::error_code error;
  while (!path.empty() && !std::filesystem::exists(path, error) && path != path.parent_path())
    path = path.parent_path();
  return path;
}

void check_space(const std::string& what, const std::filesystem::path& path, Findings& findings) {
  struct statvfs info{};
  const std::string subject = "free space for " + what;
  if (::statvfs(existing(path).c_str(), &info) != 0) {
    findings.push_back({Verdict::Open, subject, printable(path.string()) + " cannot be examined"});
    return;
  }
  const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
  const std::string text = std::to_string(free >> 20U) + " MiB in " + printable(path.string());
  if ((info.f_flag & ST_RDONLY) != 0)
    findings.push_back({Verdict::Open, subject, "none: " + printable(path.string()) + " is read-only",
                        "nothing, unless private workers of this host compile programs; then set "
                        "CLIQUE_CACHE_DIR to a folder that can be written"});
  else if (free >= kLeastSpace)
    findings.push_back({Verdict::Good, subject, text});
  else
    findings.push_back({Verdict::Bad, subject, text, "remove files there, or enlarge the file system"});
}

std::filesystem::path folder_for_caches() {
  for (const auto& [variable, below] :
       {std::pair("CLIQUE_CACHE_DIR", "."), std::pair("XDG_CACHE_HOME", "clique"),
        std::pair("HOME", ".cache/clique")})
    if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
      return (std::filesystem::path(value) / below).lexically_normal();
  return {};
}

}  // namespace

Findings check_host(const icd::SettingValues& settings) {
  Findings findings;
  icd::NodeSettings read;
  try {
    if (!icd::is_off()) read = icd::NodeSettings::read();
  } catch (const icd::SettingError&) {
    // check_settings() reports it.
  }
  check_vendors(!read.nodes.empty() || icd::is_off(), findings);
  check_settings(settings, findings);
  check_keys(read.security, !read.nodes.empty(), findings);
  check_ucx(read.transport, findings);
  if (const auto folder = folder_for_caches(); !folder.empty())
    check_space("compiled programs", folder, findings);
  check_space("shared memory", "/dev/shm", findings);
  return findings;
}

}  // namespace clique::cli::doctor
