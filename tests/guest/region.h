/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For programs with known references to a region (modify.S, vector.S): the region at BASE, ten
 * pages of which the one at HOLE is not mapped; and a handler, `segv', for the one store that must
 * not be made.
 */
#define BASE	0x30000000	/* below 4 GB, for the part in 32-bit mode */
#define HOLE	0x3000		/* nothing is mapped there */

#define SYS_mmap		9
#define SYS_munmap		11
#define SYS_rt_sigaction	13
#define SYS_exit		60
#define SYS_sigaltstack		131

/* Goes to `refused' when the kernel refuses something. */
	.macro make_region
	movl	$BASE, %edi
	movl	$0xa000, %esi
	movl	$3, %edx		/* PROT_READ | PROT_WRITE */
	movl	$0x32, %r10d		/* MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS */
	movq	$-1, %r8
	xorl	%r9d, %r9d
	movl	$SYS_mmap, %eax
	syscall
	cmpq	$BASE, %rax
	jne	refused
	movl	$BASE + HOLE, %edi
	movl	$0x1000, %esi
	movl	$SYS_munmap, %eax
	syscall
	testq	%rax, %rax
	jnz	refused
	movl	$11, %edi		/* SIGSEGV */
	leaq	action(%rip), %rsi
	xorl	%edx, %edx
	movl	$8, %r10d
	movl	$SYS_rt_sigaction, %eax
	syscall
	testq	%rax, %rax
	jnz	refused
	leaq	signal_stack(%rip), %rdi
	xorl	%esi, %esi
	movl	$SYS_sigaltstack, %eax
	syscall
	testq	%rax, %rax
	jnz	refused
	.endm

/* With status 0, or, from `refused' on, with 1. */
	.macro leave_region
	xorl	%edi, %edi
	jmp	leave
refused:
	movl	$1, %edi
leave:	movl	$SYS_exit, %eax
	syscall
	.endm

	.macro region_data
	.data
	.balign	8
action:	.quad	segv, 0xcc000000, segv, 0	/* SA_RESTORER, _ONSTACK, _NODEFER, _RESETHAND */
signal_stack:
	.quad	alternative, 0, 16384

	.bss
	.balign	16
alternative:
	.skip	16384
	.endm
