// The functions of UCX, which is opened at run time. Only for source files that are built with its headers.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace clique::protocol {

/// The functions of libucp that Clique calls, by their names without ucp_. All have been there since 1.13.
struct UcxLibrary {
  /// Opens the library, which says on standard error from now on what it logs. Any thread. @returns null if
  /// it cannot be used
  static const UcxLibrary* get();
  /// Why get() returns null.
  static const std::string& missing();

  decltype(&ucp_config_read) config_read = nullptr;
  decltype(&ucp_config_modify) config_modify = nullptr;
  decltype(&ucp_config_release) config_release = nullptr;
  decltype(&ucp_init_version) init_version = nullptr;
  decltype(&ucp_cleanup) cleanup = nullptr;
  decltype(&ucp_worker_create) worker_create = nullptr;
  decltype(&ucp_worker_get_address) worker_get_address = nullptr;
  decltype(&ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
  decltype(&ucp_worker_get_efd) worker_get_efd = nullptr;
  decltype(&ucp_worker_arm) worker_arm = nullptr;
  decltype(&ucp_worker_signal) worker_signal = nullptr;
  decltype(&ucp_worker_progress) worker_progress = nullptr;
  decltype(&ucp_ep_create) ep_create = nullptr;
  decltype(&ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&ucp_am_send_nbx) am_send_nbx = nullptr;
  decltype(&ucp_am_recv_data_nbx) am_recv_data_nbx = nullptr;
  decltype(&ucp_am_data_release) am_data_release = nullptr;
  decltype(&ucp_request_free) request_free = nullptr;
  decltype(&ucs_status_string) status_string = nullptr;  ///< of libucs

 private:
  explicit UcxLibrary(void* handle);
  struct Opened;
  static const Opened& opened();
};

}  // namespace clique::protocol
