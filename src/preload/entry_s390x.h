/* s390x: an exported name, and the way to isthmus_resolve. r0 and r1 are free at a call. A caller
 * leaves 160 bytes above its stack pointer, where a called function may keep registers. */

#define NAME(index, name)                                             \
  .globl name; .type name, @function; .p2align 4;                     \
  name: .Lentry_##index: .cfi_startproc;                              \
  lgrl %r1, isthmus_slots + 8 * (index); br %r1;                      \
  .Llazy_##index: lgfi %r0, index; jg .Lresolve; .cfi_endproc; .size name, . - name

#define ENTER(bytes)                                                  \
  stmg %r14, %r15, 112(%r15); .cfi_offset 14, -48; .cfi_offset 15, -40; \
  lay %r15, -(bytes)(%r15); .cfi_def_cfa_offset 160 + bytes
#define LEAVE(bytes)                                                  \
  lmg %r14, %r15, 112 + bytes(%r15); .cfi_def_cfa_offset 160;         \
  .cfi_restore 14; .cfi_restore 15

/* Keeps every register that an argument may be in; then goes to the slot's target. */
#define RESOLVE                                                       \
  .p2align 4; .Lresolve: .cfi_startproc; ENTER(240);                  \
  stmg %r2, %r6, 160(%r15);                                           \
  std %f0, 200(%r15); std %f2, 208(%r15);                             \
  std %f4, 216(%r15); std %f6, 224(%r15);                             \
  lgr %r2, %r0; brasl %r14, isthmus_resolve; lgr %r1, %r2;            \
  ld %f0, 200(%r15); ld %f2, 208(%r15);                               \
  ld %f4, 216(%r15); ld %f6, 224(%r15);                               \
  lmg %r2, %r6, 160(%r15); LEAVE(240); br %r1; .cfi_endproc

/* dlsym, in front of the C library's. That one checks its caller if the handle is RTLD_DEFAULT (0)
 * or RTLD_NEXT (-1), so this jumps to it instead of calling it. */
#define DLSYM                                                         \
  .globl dlsym; .type dlsym, @function; .p2align 4;                   \
  dlsym: .cfi_startproc; ENTER(176);                                  \
  stmg %r2, %r3, 160(%r15);                                           \
  la %r1, 1(%r2); clgfi %r1, 1; jle .Lreal_dlsym;                     \
  lgr %r4, %r14; brasl %r14, isthmus_own_symbol;                      \
  ltgr %r2, %r2; jne .Lown_dlsym;                                     \
  .Lreal_dlsym: brasl %r14, isthmus_real_dlsym; lgr %r1, %r2;         \
  lmg %r2, %r3, 160(%r15);                                            \
  .cfi_remember_state; LEAVE(176); br %r1; .cfi_restore_state;        \
  .Lown_dlsym: LEAVE(176); br %r14; .cfi_endproc; .size dlsym, . - dlsym

/* dlopen in the same way: the C library's checks its caller. A struct is returned in memory, whose
 * address is the first argument. */
#define DLOPEN                                                        \
  .globl dlopen; .type dlopen, @function; .p2align 4;                 \
  dlopen: .cfi_startproc; ENTER(192);                                 \
  stg %r2, 160(%r15);                                                 \
  lgr %r4, %r3; lgr %r3, %r2; la %r2, 168(%r15);                      \
  brasl %r14, isthmus_dlopen_jump;                                    \
  lg %r1, 168(%r15); lg %r3, 176(%r15); lg %r2, 160(%r15);            \
  LEAVE(192); br %r1; .cfi_endproc; .size dlopen, . - dlopen
