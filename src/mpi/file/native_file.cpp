#include "mpi/file/native_file.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "mpi/native/entry.hpp"
#include "mpi/native/face.hpp"

namespace isthmus::face {
namespace {

// Open MPI (4.1 and 5.0) names a semaphore after each file that it opens. All jobs and users of a
// host would share `sem.OMPIO_null` by /dev/null. If a killed process leaves it locked, every later
// open hangs. Open MPI also maps a file below /tmp, and a full /tmp raises SIGBUS (2026-11). So
// nothing is opened there: the library's own constructors make the object alone.
#ifdef OPEN_MPI

/// opal_class_t of Open MPI 1.0 to 5.0.
struct Class {
  const char* name;
  Class* parent;
  void (*construct)(void*);
  void (*destruct)(void*);
  int epoch;
  int depth;
  void (**constructors)(void*);  ///< in the order of their calls; the last is null
  void (**destructors)(void*);
  std::size_t size;
};

/// The start of an object. Libraries built for debugging have a number before it, `kMagic` words.
struct Head {
  Class* of;
  std::int32_t references;
};
constexpr std::size_t kMagic = 1;

/// Words before the head of all files; empty if this library's objects look different.
std::optional<std::size_t> words_before(const Class* files) {
  const auto* const sample = reinterpret_cast<Class* const*>(MPI_FILE_NULL);
  if (files == nullptr || files->constructors == nullptr) return std::nullopt;
  if (sample[0] == files) return 0;
  if (sample[kMagic] == files) return kMagic;
  return std::nullopt;
}

MPI_File without_opening() {
  auto* const files = static_cast<Class*>(native_function("ompi_file_t_class"));
  const auto before = words_before(files);
  if (!before) return MPI_FILE_NULL;
  void* const object = std::calloc(1, files->size);
  if (object == nullptr) return MPI_FILE_NULL;
  auto* const words = static_cast<Class**>(object);
  std::copy_n(reinterpret_cast<Class* const*>(MPI_FILE_NULL), *before, words);
  *reinterpret_cast<Head*>(words + *before) = {.of = files, .references = 1};
  for (auto** each = files->constructors; *each != nullptr; ++each) (*each)(object);
  return static_cast<MPI_File>(object);
}

// Not MPI_File_close: it destroys a lock that MPI_File_open alone makes (4.1; 2026-11).
void destroy(MPI_File file) {
  auto* const words = reinterpret_cast<Class**>(file);
  const auto* const files = static_cast<Class*>(native_function("ompi_file_t_class"));
  auto* const head = reinterpret_cast<Head*>(words + *words_before(files));
  if (--head->references > 0)
    return;  // the library frees no handles, as Isthmus's function
             // requested
  for (auto** each = files->destructors; *each != nullptr; ++each) (*each)(file);
  std::free(file);
}

#endif

}  // namespace

MPI_File make_native_file() {
  const Inside inside;
#ifdef OPEN_MPI
  return without_opening();
#else
  // ROMIO makes nothing beside a file that is neither read nor written.
  MPI_File made = MPI_FILE_NULL;
  native.File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &made);
  return made;
#endif
}

void free_native_file(MPI_File& file) {
  const Inside inside;
#ifdef OPEN_MPI
  destroy(file);
  file = MPI_FILE_NULL;
#else
  native.File_close(&file);
#endif
}

}  // namespace isthmus::face
