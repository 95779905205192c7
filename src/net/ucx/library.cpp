#include "net/ucx/library.hpp"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "core/base/mutex.hpp"

namespace isthmus::net::ucx {
namespace {

constexpr const char* kLibrary = "libucp.so.0";

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

// Loading UCX installs handlers for signals that mean a crash, which are the program's affair.
class Handlers {
 public:
  Handlers() {
    for (int number = 1; number < NSIG; ++number) {
      known_[static_cast<std::size_t>(number)] = ::sigaction(number, nullptr, &at(number)) == 0;
    }
  }
  ~Handlers() {
    struct sigaction now {};
    for (int number = 1; number < NSIG; ++number) {
      if (!known_[static_cast<std::size_t>(number)]) continue;
      if (::sigaction(number, nullptr, &now) == 0 && now.sa_sigaction != at(number).sa_sigaction) {
        ::sigaction(number, &at(number), nullptr);
      }
    }
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  struct sigaction& at(int number) {
    return before_[static_cast<std::size_t>(number)];
  }
  std::array<struct sigaction, NSIG> before_{};
  std::array<bool, NSIG> known_{};
};

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(std::string(kLibrary) + " of " + host_name() + " has no " + name +
                             ": UCX 1.12 or later is needed");
  }
}

// UCX writes to standard output, which is the program's, or an agent's way to its launcher.
ucs_log_func_rc_t to_stderr(const char*, unsigned, const char*, ucs_log_level_t level,
                            const ucs_log_component_config_t*, const char* message,
                            va_list values) {
  std::array<char, 1024> line{};
  if (level <= UCS_LOG_LEVEL_ERROR &&
      std::vsnprintf(line.data(), line.size(), message, values) > 0) {
    std::fprintf(stderr, "isthmus: UCX says: %s\n", line.data());
  }
  return UCS_LOG_FUNC_RC_STOP;
}

Library load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  const bool was_there = library != nullptr;  // and its lines are the MPI's affair
  std::string why;
  {
    const Handlers kept;
    library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) why = ::dlerror();
  }
  if (library == nullptr) {
    throw std::runtime_error("UCX cannot be opened on " + host_name() + " (" + why +
                             "): install it there, as Debian's package libucx0");
  }
  Library all{};
  find(library, "ucp_get_version", all.get_version);
  find(library, "ucp_config_read", all.config_read);
  find(library, "ucp_config_modify", all.config_modify);
  find(library, "ucp_config_release", all.config_release);
  find(library, "ucp_init_version", all.init_version);
  find(library, "ucp_cleanup", all.cleanup);
  find(library, "ucp_worker_create", all.worker_create);
  find(library, "ucp_worker_destroy", all.worker_destroy);
  find(library, "ucp_worker_get_address", all.worker_get_address);
  find(library, "ucp_worker_release_address", all.worker_release_address);
  find(library, "ucp_worker_get_efd", all.worker_get_efd);
  find(library, "ucp_worker_arm", all.worker_arm);
  find(library, "ucp_worker_progress", all.worker_progress);
  find(library, "ucp_worker_set_am_recv_handler", all.worker_set_am_recv_handler);
  find(library, "ucp_ep_create", all.ep_create);
  find(library, "ucp_ep_close_nbx", all.ep_close_nbx);
  find(library, "ucp_ep_flush_nbx", all.ep_flush_nbx);
  find(library, "ucp_am_send_nbx", all.am_send_nbx);
  find(library, "ucp_request_check_status", all.request_check_status);
  find(library, "ucp_request_free", all.request_free);
  find(library, "ucs_status_string", all.status_string);
  all.log_push_handler =
      reinterpret_cast<decltype(all.log_push_handler)>(::dlsym(library, "ucs_log_push_handler"));
  all.log_pop_handler =
      reinterpret_cast<decltype(all.log_pop_handler)>(::dlsym(library, "ucs_log_pop_handler"));
  if (!was_there && all.log_push_handler != nullptr) all.log_push_handler(&to_stderr);
  return all;
}

core::Mutex log_handlers;  // UCX has them for all threads, and without a lock

ucs_log_func_rc_t swallow(const char*, unsigned, const char*, ucs_log_level_t,
                          const ucs_log_component_config_t*, const char*, va_list) {
  return UCS_LOG_FUNC_RC_STOP;
}

thread_local std::string* first_error = nullptr;

ucs_log_func_rc_t keep(const char*, unsigned, const char*, ucs_log_level_t level,
                       const ucs_log_component_config_t*, const char* message, va_list values) {
  if (first_error == nullptr || level > UCS_LOG_LEVEL_ERROR) return UCS_LOG_FUNC_RC_CONTINUE;
  std::array<char, 512> line{};
  if (first_error->empty() && std::vsnprintf(line.data(), line.size(), message, values) > 0) {
    *first_error = line.data();
  }
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

Quiet::Quiet(const Library& library) : library_(library) {
  const core::Lock lock(log_handlers);
  if (library_.log_push_handler != nullptr) library_.log_push_handler(&swallow);
}

Quiet::~Quiet() {
  const core::Lock lock(log_handlers);
  if (library_.log_pop_handler != nullptr) library_.log_pop_handler();
}

Heard::Heard(const Library& library) : library_(library) {
  const core::Lock lock(log_handlers);
  first_error = &first_;
  if (library_.log_push_handler != nullptr) library_.log_push_handler(&keep);
}

Heard::~Heard() {
  const core::Lock lock(log_handlers);
  if (library_.log_pop_handler != nullptr) library_.log_pop_handler();
  first_error = nullptr;
}

const Library& Library::open() {
  static const Library library = load();  // again after it has thrown
  return library;
}

}  // namespace isthmus::net::ucx
