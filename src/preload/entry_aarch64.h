/* AArch64: an exported name, and the way to isthmus_resolve. x16 and x17 are free at a call. */

#define NAME(index, name)                                             \
  .globl name; .type name, %function; .p2align 4;                     \
  name: .Lentry_##index: .cfi_startproc;                                               \
  adrp x16, isthmus_slots + 8 * (index);                              \
  ldr x16, [x16, :lo12:isthmus_slots + 8 * (index)]; br x16;          \
  .Llazy_##index: mov w17, index; b .Lresolve; .cfi_endproc; .size name, . - name

/* Keeps every register that an argument may be in; then goes to the slot's target. */
#define RESOLVE                                                       \
  .p2align 4; .Lresolve: .cfi_startproc;                              \
  stp x29, x30, [sp, -224]!; .cfi_def_cfa_offset 224;                 \
  .cfi_offset x29, -224; .cfi_offset x30, -216; mov x29, sp;          \
  stp x0, x1, [sp, 16]; stp x2, x3, [sp, 32]; stp x4, x5, [sp, 48];   \
  stp x6, x7, [sp, 64]; str x8, [sp, 80];                             \
  stp q0, q1, [sp, 96]; stp q2, q3, [sp, 128];                        \
  stp q4, q5, [sp, 160]; stp q6, q7, [sp, 192];                       \
  mov w0, w17; bl isthmus_resolve; mov x16, x0;                       \
  ldp x0, x1, [sp, 16]; ldp x2, x3, [sp, 32]; ldp x4, x5, [sp, 48];   \
  ldp x6, x7, [sp, 64]; ldr x8, [sp, 80];                             \
  ldp q0, q1, [sp, 96]; ldp q2, q3, [sp, 128];                        \
  ldp q4, q5, [sp, 160]; ldp q6, q7, [sp, 192];                       \
  ldp x29, x30, [sp], 224; .cfi_def_cfa_offset 0; .cfi_restore x29;   \
  .cfi_restore x30; br x16; .cfi_endproc

/* dlsym, in front of the C library's. That one checks its caller if the handle is RTLD_DEFAULT (0)
 * or RTLD_NEXT (-1), so this jumps to it instead of calling it. */
#define DLSYM                                                         \
  .globl dlsym; .type dlsym, %function; .p2align 4;                   \
  dlsym: .cfi_startproc;                                              \
  stp x29, x30, [sp, -32]!; .cfi_def_cfa_offset 32;                   \
  .cfi_offset x29, -32; .cfi_offset x30, -24; mov x29, sp;            \
  stp x0, x1, [sp, 16];                                               \
  add x9, x0, 1; cmp x9, 1; b.ls .Lreal_dlsym;                        \
  mov x2, x30; bl isthmus_own_symbol;                                 \
  cbnz x0, .Lown_dlsym;                                               \
  .Lreal_dlsym: bl isthmus_real_dlsym; mov x16, x0;                   \
  ldp x0, x1, [sp, 16]; ldp x29, x30, [sp], 32; br x16;               \
  .Lown_dlsym: ldp x29, x30, [sp], 32; ret;                           \
  .cfi_endproc; .size dlsym, . - dlsym

/* dlopen in the same way: the C library's checks its caller. */
#define DLOPEN                                                        \
  .globl dlopen; .type dlopen, %function; .p2align 4;                 \
  dlopen: .cfi_startproc;                                             \
  stp x29, x30, [sp, -32]!; .cfi_def_cfa_offset 32;                   \
  .cfi_offset x29, -32; .cfi_offset x30, -24; mov x29, sp;            \
  str x0, [sp, 16]; bl isthmus_dlopen_jump; mov x16, x0;              \
  ldr x0, [sp, 16]; ldp x29, x30, [sp], 32; br x16;                   \
  .cfi_endproc; .size dlopen, . - dlopen
