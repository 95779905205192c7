// UCX's functions. The library is opened at its first use, because most clusters do not need it.
// The process may hold it already, as part of its MPI: then it is the same one.
#pragma once

#include <ucp/api/ucp.h>
#include <ucs/debug/log_def.h>

#include <string>

namespace isthmus::net::ucx {

struct Library {
  /// The same each time. Throws std::runtime_error with a sentence that names the host and the
  /// package. The program keeps the signal handlers that it has.
  static const Library& open();

  decltype(&::ucp_get_version) get_version;
  decltype(&::ucp_config_read) config_read;
  decltype(&::ucp_config_modify) config_modify;
  decltype(&::ucp_config_release) config_release;
  decltype(&::ucp_init_version) init_version;
  decltype(&::ucp_cleanup) cleanup;
  decltype(&::ucp_worker_create) worker_create;
  decltype(&::ucp_worker_destroy) worker_destroy;
  decltype(&::ucp_worker_get_address) worker_get_address;
  decltype(&::ucp_worker_release_address) worker_release_address;
  decltype(&::ucp_worker_get_efd) worker_get_efd;
  decltype(&::ucp_worker_arm) worker_arm;
  decltype(&::ucp_worker_progress) worker_progress;
  decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&::ucp_ep_create) ep_create;
  decltype(&::ucp_ep_close_nbx) ep_close_nbx;
  decltype(&::ucp_ep_flush_nbx) ep_flush_nbx;
  decltype(&::ucp_am_send_nbx) am_send_nbx;
  decltype(&::ucp_request_check_status) request_check_status;
  decltype(&::ucp_request_free) request_free;
  const char* (*status_string)(ucs_status_t);
  decltype(&::ucs_log_push_handler) log_push_handler;  ///< may be missing, as the next
  decltype(&::ucs_log_pop_handler) log_pop_handler;
};

/// Hides UCX's own lines on the program's standard error. Isthmus reports the same errors itself.
class Quiet {
 public:
  explicit Quiet(const Library& library);
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  const Library& library_;
};

/// UCX's own lines about errors on this thread are kept in place of being written; others are not
/// touched.
class Heard {
 public:
  explicit Heard(const Library& library);
  ~Heard();
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;

  const std::string& first() const { return first_; }  ///< empty where UCX has told none

 private:
  const Library& library_;
  std::string first_;
};

}  // namespace isthmus::net::ucx
