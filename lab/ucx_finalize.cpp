// Preloaded into ranks of MPICH over UCX, part of libisthmus_nospin: lets their MPI_Finalize end.
//
// MPICH before 4.2 closes its UCX endpoints. Then it waits for the other ranks in its process
// manager's barrier, where it does not advance UCX any more. UCX's TCP needs an answer from the
// peer before an endpoint is closed, and a peer in that barrier gives none. The slower rank waits
// forever, more often on longer ways. Here a rank that waits at the barrier keeps UCX going
// meanwhile.
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace {

constexpr long kNap = 1'000'000;  // nanoseconds

void* worker = nullptr;  // MPICH has one
bool closing = false;    // the first endpoint was closed

template <typename Function>
Function* of_ucx(const char* name) {
  // The program may have loaded its MPI in a place that RTLD_NEXT does not search.
  static void* const library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(library != nullptr ? dlsym(library, name) : nullptr);
}

/// The connection to Hydra's proxy.
int process_manager() {
  static const int fd = [] {
    const char* text = std::getenv("PMI_FD");
    return text != nullptr ? std::atoi(text) : -1;
  }();
  return fd;
}

void progress_until_readable(int fd) {
  static auto* const progress = of_ucx<unsigned(void*)>("ucp_worker_progress");
  pollfd wanted{fd, POLLIN, 0};
  const timespec pause{0, kNap};
  while (progress != nullptr && worker != nullptr && ppoll(&wanted, 1, &pause, nullptr) == 0) {
    while (progress(worker) != 0) {
    }
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int ucp_worker_create(void* context, const void* parameters,
                                                             void** made) {
  static auto* const real = of_ucx<int(void*, const void*, void**)>("ucp_worker_create");
  const int status = real(context, parameters, made);
  if (status == 0) worker = *made;
  return status;
}

__attribute__((visibility("default"))) void ucp_worker_destroy(void* gone) {
  static auto* const real = of_ucx<void(void*)>("ucp_worker_destroy");
  worker = nullptr;
  real(gone);
}

__attribute__((visibility("default"))) void* ucp_disconnect_nb(void* endpoint) {
  static auto* const real = of_ucx<void*(void*)>("ucp_disconnect_nb");
  closing = true;
  return real(endpoint);
}

__attribute__((visibility("default"))) ssize_t read(int fd, void* buffer, std::size_t size) {
  static auto* const real =
      reinterpret_cast<ssize_t (*)(int, void*, std::size_t)>(dlsym(RTLD_NEXT, "read"));
  if (closing && fd == process_manager()) progress_until_readable(fd);
  return real(fd, buffer, size);
}

}  // extern "C"
