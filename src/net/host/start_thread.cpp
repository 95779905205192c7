#include "net/host/start_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace isthmus::net {

std::thread start_thread(const std::string& name, std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread started;
  std::string refused;
  try {
    started = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    refused = error.code().message();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started.joinable()) {
    throw NoThread("cannot start the thread " + name + ": " + refused +
                   ". Raise the limit on processes and threads (ulimit -u, or pids.max of the "
                   "control group)");
  }
  pthread_setname_np(started.native_handle(), name.substr(0, 15).c_str());
  return started;
}

}  // namespace isthmus::net
