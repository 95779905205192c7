/* x86-64: an exported name, and the way to isthmus_resolve. r11 is free at a call. */

#define NAME(index, name)                                             \
  .globl name; .type name, @function; .p2align 4;                     \
  name: .cfi_startproc; endbr64; jmp *(isthmus_slots + 8 * (index))(%rip); \
  .Llazy_##index: movl $index, %r11d; jmp .Lresolve; .cfi_endproc; .size name, . - name

/* Keeps every register that an argument may be in; then goes where the slot leads. */
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
