/* The entry stub: shared by a generated table of exported names and the code that fills it. A stub
 * knows names of functions, nothing of MPI itself: no types, no constants. */
#ifndef ISTHMUS_PRELOAD_STUB_H
#define ISTHMUS_PRELOAD_STUB_H

/* Generated (tools/generate/stub.py): the exported names, sorted, and the slot that each jumps
 * through. A slot first leads to isthmus_resolve. */
extern const unsigned isthmus_count;
extern const char* const isthmus_names[];
extern void* isthmus_slots[];
extern void* const isthmus_entries[]; /* the exported symbol of each name */
/* Generated: the ABI of the face ("ompi"), and the sonames of the libraries that have it. Each is a
 * name or a beginning that ends in '*'; ends with a null. */
extern const char isthmus_abi[];
extern const char* const isthmus_sonames[];
extern const char* const isthmus_other_sonames[]; /* of the other ABIs' */

/* Called by the first call of any name: fills all slots and returns the target of slot `index`.
 * Does not return without an MPI library. */
void* isthmus_resolve(unsigned index);

/* A function of the face that is not an MPI function (mpi/native/face.hpp). 0 if this process is
 * not a rank of a grid, or has loaded no MPI library yet. */
void* isthmus_face_function(const char* name);

/* loaded.c: the path of the loaded library with one of `sonames`, or 0. */
int isthmus_find_loaded(const char* const* sonames, char* path, unsigned long size);

/* loaded.c: the function that a call of `name` would reach without the stub, or 0. `library`: the
 * sonames of its library, which may be loaded for some callers alone. */
void* isthmus_next(const char* name, const char* const* library);

/* loaded.c: whether an address is in a loaded library with one of `sonames`. */
int isthmus_is_in(const char* const* sonames, const void* address);

/* dlsym.c, called by the generated dlsym: the symbol that a lookup of `name` must find instead of
 * the library's own function, or 0; and the C library's dlsym. */
void* isthmus_own_symbol(void* handle, const char* name, void* caller);
void* isthmus_real_dlsym(void);
/* dlsym.c: a function of the C library, kept for later calls; the C library's dlsym, called. */
void* isthmus_of_c_library(const char* name, void** kept);
void* isthmus_look_up(void* handle, const char* name);

/* deep.c, called by the generated dlopen: where to jump, and with which flags. */
struct isthmus_jump {
  void* to;
  long flags;
};
struct isthmus_jump isthmus_dlopen_jump(const char* name, int flags);

/* environment.c: takes the variables of `isthmus run` out of the environment; once. */
void isthmus_take_environment(void);
/* Whether this process is the rank that `isthmusd exec` started, or runs in its place. */
int isthmus_in_grid(void);
/* The value of a variable of the environment, taken or not, or 0. */
char* isthmus_setting(const char* name);

/* Prints one line to standard error and ends the process. */
void isthmus_die(const char* what, const char* detail) __attribute__((noreturn));

#endif
