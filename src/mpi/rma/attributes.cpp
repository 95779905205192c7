// MPI-4.1 section 12.2.6: the attributes that every window has. Its native handle may have others.
#include "mpi/native/entry.hpp"
#include "mpi/rma/window.hpp"

extern "C" int isthmus_fortran_win_attribute(int win, int keyval, MPI_Aint* value);

namespace isthmus::face {

// coverage: base, size, displacement unit, flavour and model are the window's
ISTHMUS_MPI(Win_get_attr)(MPI_Win win, int keyval, void* value, int* flag) {
  const GridWindowRef window = grid_window(win);
  const bool ours = window && value != nullptr && flag != nullptr;
  void* const own = ours ? window->attribute(keyval) : nullptr;
  const bool empty_base = ours && keyval == MPI_WIN_BASE;
  if (own == nullptr && !empty_base) return native.Win_get_attr(win, keyval, value, flag);
  *static_cast<void**>(value) = own;
  *flag = 1;
  return MPI_SUCCESS;
}

}  // namespace isthmus::face

using namespace isthmus::face;

// Fortran is given the number itself. Returns 1: it is set; 0: the native library knows. Fortran's
// attribute functions do not reach those of C (src/preload/fortran_attributes.c).
int isthmus_fortran_win_attribute(int win, int keyval, MPI_Aint* value) {
#if defined(OPEN_MPI)
  const MPI_Win handle = native.Win_f2c(win);
#elif defined(MPICH)
  const MPI_Win handle = win;  // used if MPI_Win_f2c is a macro
#else
  const MPI_Win handle = native.Win_fromint(win);
#endif
  const GridWindowRef window = grid_window(handle);
  if (!window) return 0;
  void* const own = window->attribute(keyval);
  if (keyval == MPI_WIN_BASE || (own != nullptr && keyval == MPI_WIN_SIZE)) {
    *value =
        keyval == MPI_WIN_BASE ? reinterpret_cast<MPI_Aint>(own) : *static_cast<MPI_Aint*>(own);
    return 1;
  }
  if (own == nullptr) return 0;
  *value = *static_cast<int*>(own);
  return 1;
}
