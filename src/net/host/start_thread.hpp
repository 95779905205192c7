// Threads of Isthmus's own, in processes of the program and in agents.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace isthmus::net {

/// The system refuses a thread. what() names the thread, the reason and the remedy.
class NoThread : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Starts a thread that gets no signals of the program. `name` is its name in tools (at most 15
/// characters) and in the error. Throws NoThread.
std::thread start_thread(const std::string& name, std::function<void()> body);

}  // namespace isthmus::net
