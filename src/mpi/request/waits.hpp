// The waits of the program's threads in MPI calls, kept after a while for questions about the
// program's state (docs/debugging.md). Short waits are not entered, so they pay nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/native/native.hpp"

namespace isthmus::face {

struct WaitingFor {
  const char* call = nullptr;  ///< "MPI_Recv", a string literal; null: of no interest
  MPI_Comm comm = MPI_COMM_NULL;
  enum class What { Other, Message, Receiver } what = What::Other;
  int peer = -1;     ///< world rank of the message's sender or receiver; -1: any
  int tag = -1;      ///< -1: any
  int requests = 0;  ///< of a wait for requests
};

/// Something that can describe a wait; it outlives the wait.
class Describe {
 public:
  Describe() = default;
  template <class Function>
  explicit Describe(const Function& function)
      : object_(&function), call_([](const void* object, WaitingFor& wait) {
          (*static_cast<const Function*>(object))(wait);
        }) {}
  void operator()(WaitingFor& wait) const {
    if (call_ != nullptr) call_(object_, wait);
  }

 private:
  const void* object_ = nullptr;
  void (*call_)(const void*, WaitingFor&) = nullptr;
};

/// While it lives, its wait is known. On a thread of the program; calls MPI for the name.
class KnownWait {
 public:
  explicit KnownWait(const WaitingFor& wait);
  ~KnownWait();
  KnownWait(const KnownWait&) = delete;
  KnownWait& operator=(const KnownWait&) = delete;
};

struct Waited {
  WaitingFor wait;
  std::string comm_name;  ///< may be empty
  std::uint64_t context = 0;
  int comm_size = 0;  ///< 0: no communicator
  double seconds = 0;
};
/// On any thread.
std::vector<Waited> known_waits();

}  // namespace isthmus::face
