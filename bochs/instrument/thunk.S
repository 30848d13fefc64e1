/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call laplace_slow_access(slot, address, how) with every register preserved,
 * so that the fast path need not expect the call (hooks.h).  The x87 registers
 * are not touched by compiled code.
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
	sub $256, %rsp
	and $-16, %rsp
	movups %xmm0, 0(%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movups %xmm5, 80(%rsp)
	movups %xmm6, 96(%rsp)
	movups %xmm7, 112(%rsp)
	movups %xmm8, 128(%rsp)
	movups %xmm9, 144(%rsp)
	movups %xmm10, 160(%rsp)
	movups %xmm11, 176(%rsp)
	movups %xmm12, 192(%rsp)
	movups %xmm13, 208(%rsp)
	movups %xmm14, 224(%rsp)
	movups %xmm15, 240(%rsp)
	call laplace_slow_access@PLT
	movups 0(%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	movups 64(%rsp), %xmm4
	movups 80(%rsp), %xmm5
	movups 96(%rsp), %xmm6
	movups 112(%rsp), %xmm7
	movups 128(%rsp), %xmm8
	movups 144(%rsp), %xmm9
	movups 160(%rsp), %xmm10
	movups 176(%rsp), %xmm11
	movups 192(%rsp), %xmm12
	movups 208(%rsp), %xmm13
	movups 224(%rsp), %xmm14
	movups 240(%rsp), %xmm15
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
