/* The entry stub: what a generated table of exported names shares with the code that fills it.
 * A stub knows names of functions, nothing of MPI itself: no types, no constants. */
#ifndef ISTHMUS_PRELOAD_STUB_H
#define ISTHMUS_PRELOAD_STUB_H

/* Generated (tools/generate/stub.py): the exported names, sorted, and the slot that each jumps
 * through. A slot first leads to isthmus_resolve. */
extern const unsigned isthmus_count;
extern const char* const isthmus_names[];
extern void* isthmus_slots[];
/* Generated: the ABI of the face ("ompi"), and the sonames of the libraries that have it, each a
 * name or a beginning that ends in '*'; ends with a null. */
extern const char isthmus_abi[];
extern const char* const isthmus_sonames[];

/* Called by the first call of any name: fills all slots and returns what slot `index` leads to
 * now. Does not return when there is no MPI library to lead to. */
void* isthmus_resolve(unsigned index);

/* loaded.c: the path of the loaded library with one of `sonames`, or 0. */
int isthmus_find_loaded(const char* const* sonames, char* path, unsigned long size);

/* Prints one line to standard error and ends the process. */
void isthmus_die(const char* what, const char* detail) __attribute__((noreturn));

#endif
