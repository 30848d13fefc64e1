/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call laplace_slow_access(slot, address, how) with every register preserved,
 * so that the fast path need not expect the call (hooks.h).
 */
#if defined(__x86_64__)
	.text
	.globl laplace_slow_access_thunk
	.type laplace_slow_access_thunk, @function
laplace_slow_access_thunk:
	push %rbp
	mov %rsp, %rbp
	push %rax
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	sub $512, %rsp
	and $-64, %rsp
	fxsave64 (%rsp)
	call laplace_slow_access@PLT
	fxrstor64 (%rsp)
	lea -72(%rbp), %rsp
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rax
	pop %rbp
	ret
	.size laplace_slow_access_thunk, .-laplace_slow_access_thunk
#endif
	.section .note.GNU-stack,"",@progbits
