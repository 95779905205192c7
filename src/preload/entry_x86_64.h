/* x86-64: an exported name, and the way to isthmus_resolve. r11 is free at a call. */

#define NAME(index, name)                                             \
  .globl name; .type name, @function; .p2align 4;                     \
  name: .Lentry_##index: .cfi_startproc; endbr64; jmp *(isthmus_slots + 8 * (index))(%rip); \
  .Llazy_##index: movl $index, %r11d; jmp .Lresolve; .cfi_endproc; .size name, . - name

/* Keeps every register that an argument may be in; then goes to the slot's target. */
#define RESOLVE                                                       \
  .p2align 4; .Lresolve: .cfi_startproc;                              \
  pushq %rbp; .cfi_def_cfa_offset 16; .cfi_offset %rbp, -16;          \
  movq %rsp, %rbp; .cfi_def_cfa_register %rbp;                        \
  subq $192, %rsp;                                                    \
  movq %rdi, (%rsp); movq %rsi, 8(%rsp); movq %rdx, 16(%rsp);         \
  movq %rcx, 24(%rsp); movq %r8, 32(%rsp); movq %r9, 40(%rsp);        \
  movq %rax, 48(%rsp);                                                \
  movups %xmm0, 64(%rsp); movups %xmm1, 80(%rsp);                     \
  movups %xmm2, 96(%rsp); movups %xmm3, 112(%rsp);                    \
  movups %xmm4, 128(%rsp); movups %xmm5, 144(%rsp);                   \
  movups %xmm6, 160(%rsp); movups %xmm7, 176(%rsp);                   \
  movl %r11d, %edi; call isthmus_resolve; movq %rax, %r11;            \
  movq (%rsp), %rdi; movq 8(%rsp), %rsi; movq 16(%rsp), %rdx;         \
  movq 24(%rsp), %rcx; movq 32(%rsp), %r8; movq 40(%rsp), %r9;        \
  movq 48(%rsp), %rax;                                                \
  movups 64(%rsp), %xmm0; movups 80(%rsp), %xmm1;                     \
  movups 96(%rsp), %xmm2; movups 112(%rsp), %xmm3;                    \
  movups 128(%rsp), %xmm4; movups 144(%rsp), %xmm5;                   \
  movups 160(%rsp), %xmm6; movups 176(%rsp), %xmm7;                   \
  leave; .cfi_def_cfa %rsp, 8; jmp *%r11; .cfi_endproc

/* dlsym, in front of the C library's. That one checks its caller if the handle is RTLD_DEFAULT (0)
 * or RTLD_NEXT (-1), so this jumps to it instead of calling it. */
#define DLSYM                                                         \
  .globl dlsym; .type dlsym, @function; .p2align 4;                   \
  dlsym: .cfi_startproc; endbr64;                                     \
  leaq 1(%rdi), %rax; cmpq $1, %rax; jbe .Lreal_dlsym;                \
  pushq %rdi; .cfi_def_cfa_offset 16; pushq %rsi; .cfi_def_cfa_offset 24; \
  subq $8, %rsp; .cfi_def_cfa_offset 32;                              \
  movq 24(%rsp), %rdx; call isthmus_own_symbol;                       \
  addq $8, %rsp; .cfi_def_cfa_offset 24;                              \
  popq %rsi; .cfi_def_cfa_offset 16; popq %rdi; .cfi_def_cfa_offset 8; \
  testq %rax, %rax; je .Lreal_dlsym; ret;                             \
  .Lreal_dlsym: pushq %rdi; .cfi_def_cfa_offset 16;                   \
  pushq %rsi; .cfi_def_cfa_offset 24; subq $8, %rsp; .cfi_def_cfa_offset 32; \
  call isthmus_real_dlsym; addq $8, %rsp; .cfi_def_cfa_offset 24;     \
  popq %rsi; .cfi_def_cfa_offset 16; popq %rdi; .cfi_def_cfa_offset 8; \
  jmp *%rax; .cfi_endproc; .size dlsym, . - dlsym

/* dlopen in the same way: the C library's checks its caller. */
#define DLOPEN                                                        \
  .globl dlopen; .type dlopen, @function; .p2align 4;                 \
  dlopen: .cfi_startproc; endbr64;                                    \
  pushq %rdi; .cfi_def_cfa_offset 16; call isthmus_dlopen_jump;       \
  popq %rdi; .cfi_def_cfa_offset 8; movl %edx, %esi;                  \
  jmp *%rax; .cfi_endproc; .size dlopen, . - dlopen
