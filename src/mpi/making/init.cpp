// MPI-4.1 sections 11.2 and 11.6: the beginning and the end.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/base/mutex.hpp"
#include "mpi/making/join.hpp"
#include "mpi/making/lifetime.hpp"
#include "mpi/making/program_name.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/native/environment.hpp"
#include "mpi/native/face.hpp"
#include "mpi/native/thread_level.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {
namespace {

/// The program's view, if it has begun a session: the native library's world began with it.
struct Lifetime {
  core::Mutex mutex;
  bool joined GUARDED_BY(mutex) = false;  ///< by MPI_Init or a session
  std::atomic<bool> by_session = false;   ///< joined so
  int sessions GUARDED_BY(mutex) = 0;     ///< open ones
  std::atomic<bool> begun = false;        ///< the program has called MPI_Init
  std::atomic<bool> ended = false;        ///< and MPI_Finalize
  int provided GUARDED_BY(mutex) = 0;     ///< thread level of the native library, if by_session
};
Lifetime& lifetime() {
  static Lifetime& one = *new Lifetime;  // outlives static objects that call MPI
  return one;
}

bool natively_ended() {
  int ended = 0;
  native.Finalized(&ended);
  return ended != 0;
}

/// A mapping whose name the rank watcher finds (daemon/launch/mapped.hpp): from now on the native
/// library may begin. Returns its address; null if there is none.
void* show_joining() {
  int file = memfd_create("isthmus-joins", MFD_CLOEXEC);
  for (const char* folder : {"/dev/shm", "/tmp"}) {  // used if the system refuses memfd_create
    if (file >= 0) break;
    std::string path = std::string(folder) + "/isthmus-joins-XXXXXX";
    file = mkostemp(path.data(), O_CLOEXEC);
    if (file >= 0) unlink(path.c_str());
  }
  if (file < 0) return nullptr;
  void* const mark = mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE, file, 0);
  close(file);
  return mark == MAP_FAILED ? nullptr : mark;
}

/// From now on the gateways notice the end of this process, so the watcher may end.
void show_joined(void* mark) {
  if (mark != nullptr) mprotect(mark, 1, PROT_READ);
}

/// Initializes the native library by `as_asked`, or at the thread level that Isthmus needs; then
/// joins the grid.
template <class AsAsked>
int initialize(int* argc, char*** argv, int required, int* provided, AsAsked&& as_asked) {
  ProgressBy by = ProgressBy::None;
  std::string wrong;
  void* const mark = show_joining();
  try {
    by = choose_progress(required == MPI_THREAD_MULTIPLE);
  } catch (const std::invalid_argument& setting) {
    wrong = setting.what();
  }
  int code = MPI_SUCCESS;
  if (by == ProgressBy::Thread) {
    int given = MPI_THREAD_SINGLE;
    code = native.Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &given);
    if (given != MPI_THREAD_MULTIPLE) by = ProgressBy::None;
    *provided = std::min(required, given);
    set_thread_level(*provided);
  } else {
    code = as_asked();
  }
  if (code != MPI_SUCCESS) return code;
  if (!wrong.empty()) abort_grid(1, "cannot join the grid: " + wrong);
  join_grid(by);
  show_joined(mark);
  name_the_program();
  // A spawned process connects to its parents now, while all of its world are here.
  if (MPI_Comm parent = MPI_COMM_NULL; setting("ISTHMUS_PARENT") != nullptr) {
    return isthmus_Comm_get_parent(&parent);
  }
  return code;
}

/// MPI_Init and MPI_Init_thread.
template <class AsAsked>
int begin_world(int* argc, char*** argv, int required, int* provided, AsAsked&& as_asked) {
  if (!in_grid()) return as_asked();
  Lifetime& life = lifetime();
  const core::Lock lock(life.mutex);
  if (life.begun) return as_asked();  // twice: an error, which the native library raises
  int code = MPI_SUCCESS;
  if (life.joined) {
    *provided = std::min(required, life.provided);
    set_thread_level(*provided);
  } else {
    code = initialize(argc, argv, required, provided, as_asked);
  }
  life.joined = life.begun = code == MPI_SUCCESS;
  return code;
}

/// Libraries fail if a thread of ours calls them once MPI_Finalize has begun (MPICH 4.0: the
/// assertion `worker->inprogress`). Or they fail if a hook is put in (MPICH 5.0: MPIX_Async_start
/// asserts; 2026-11). So both end before. From then on, only the program's calls advance
/// outstanding operations.
int finalize_natively() {
  stop_native_progress();
  return native.Finalize();
}

/// A program that uses only sessions has none left. A program that exits with open sessions, or
/// after MPI_Init without MPI_Finalize, is left to the native launcher, as without Isthmus; so is a
/// forked child. Without the mutex: the thread that exits may hold it.
void at_exit(int, void* process) NO_THREAD_SAFETY_ANALYSIS {
  const Lifetime& life = lifetime();
  if (reinterpret_cast<std::intptr_t>(process) != ::getpid()) return;
  if (life.sessions == 0 && !life.begun && !natively_ended()) finalize_natively();
}

}  // namespace

bool begin_session() {
  if (!in_grid()) return true;
  Lifetime& life = lifetime();
  const core::Lock lock(life.mutex);
  if (life.joined && natively_ended()) return false;
  if (!life.joined) {
    // Later sessions may ask for any level.
    const auto multiple = [&] {
      return native.Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &life.provided);
    };
    if (initialize(nullptr, nullptr, MPI_THREAD_MULTIPLE, &life.provided, multiple) !=
        MPI_SUCCESS) {
      return true;  // the native session reports the error
    }
    life.joined = life.by_session = true;
    // Not std::atexit, which is of this library (native/never_destroyed.cpp).
    ::on_exit(at_exit, reinterpret_cast<void*>(std::intptr_t{::getpid()}));
  }
  ++life.sessions;
  return true;
}

void end_without_parents(const std::string& why) {
  int rank = 0;
  isthmus_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const std::string line =
        "isthmus: the processes of an MPI_Comm_spawn that has failed end: " + why + "\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
  }
  finalize_natively();
  ::exit(EXIT_SUCCESS);
}

void end_session() {
  if (!in_grid()) return;
  Lifetime& life = lifetime();
  {
    const core::Lock lock(life.mutex);
    if (life.sessions == 0) return;
    --life.sessions;
    if (life.sessions > 0 || !life.ended) return;
  }
  if (!natively_ended()) finalize_natively();
}

// coverage: joins the grid
ISTHMUS_MPI(Init)(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  return begin_world(argc, argv, MPI_THREAD_SINGLE, &provided,
                     [&] { return native.Init(argc, argv); });
}

// coverage: joins the grid; the thread level is the native library's
ISTHMUS_MPI(Init_thread)(int* argc, char*** argv, int required, int* provided) {
  return begin_world(argc, argv, required, provided,
                     [&] { return native.Init_thread(argc, argv, required, provided); });
}

// coverage: waits for every rank, then leaves the grid; where sessions are open, the last does that
ISTHMUS_MPI(Finalize)() {
  Lifetime& life = lifetime();
  if (!inner_call() && in_grid()) {
    const core::Lock lock(life.mutex);
    if (life.sessions > 0 && life.begun && !life.ended) {
      life.ended = true;
      return MPI_SUCCESS;
    }
  }
  return finalize_natively();  // calls leave_grid: see join.cpp
}

// coverage: of MPI_Init, also where a session came before it
ISTHMUS_MPI(Initialized)(int* flag) {
  if (flag == nullptr || !lifetime().by_session) return native.Initialized(flag);
  *flag = lifetime().begun ? 1 : 0;
  return MPI_SUCCESS;
}

// coverage: of MPI_Finalize, also where sessions are open
ISTHMUS_MPI(Finalized)(int* flag) {
  const int code = native.Finalized(flag);
  if (code == MPI_SUCCESS && flag != nullptr && lifetime().ended) *flag = 1;
  if (code == MPI_SUCCESS && flag != nullptr && !lifetime().begun && lifetime().by_session) {
    *flag = 0;
  }
  return code;
}

}  // namespace isthmus::face
