/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vector: instructions of x86-64-v2 and v3, each with its references to the region at BASE beside
 * it, as the processor's manuals have them; comments as in modify.S.
 *
 * What is masked refers to the elements that the mask chooses, and to no other: from the last to
 * the first where they are loaded, from the first to the last where they are stored or gathered.
 *
 * usage: vector.  Exit status 0, or 1 when the kernel refused something.
 */
#include "region.h"

	.globl _start
	.text
_start:
	make_region
	movl	$BASE, %ebx

	/* Nothing of these pages faults any more. */
	movb	$0x55, 0x0000(%rbx)	/* w1 0000 */
	movb	$0x55, 0x1000(%rbx)	/* w1 1000 */
	movb	$0x55, 0x2000(%rbx)	/* w1 2000 */

	/* v2 */
	movdqu	0x010(%rbx), %xmm0	/* r16 0010 */
	movdqa	%xmm0, 0x020(%rbx)	/* w16 0020 */
	movdqu	0xff8(%rbx), %xmm0	/* r8 0ff8 r8 1000 */
	movdqu	%xmm0, 0xff4(%rbx)	/* w12 0ff4 w4 1000 */
	pcmpistri $0, 0x030(%rbx), %xmm0	/* r16 0030 */
	pcmpestrm $0, 0x030(%rbx), %xmm0	/* r16 0030 */
	popcntq	0x040(%rbx), %rax	/* r8 0040 */
	popcntw	0x040(%rbx), %ax	/* r2 0040 */
	crc32b	0x041(%rbx), %eax	/* r1 0041 */
	crc32q	0x041(%rbx), %rax	/* r8 0041 */
	pshufb	0x050(%rbx), %xmm0	/* r16 0050 */
	pinsrb	$3, 0x061(%rbx), %xmm0	/* r1 0061 */
	pinsrd	$1, 0x064(%rbx), %xmm0	/* r4 0064 */
	pinsrq	$1, 0x068(%rbx), %xmm0	/* r8 0068 */
	pextrb	$3, %xmm0, 0x071(%rbx)	/* w1 0071 */
	pextrw	$3, %xmm0, 0x072(%rbx)	/* w2 0072 */
	pextrd	$3, %xmm0, 0x074(%rbx)	/* w4 0074 */
	pextrq	$1, %xmm0, 0x078(%rbx)	/* w8 0078 */
	extractps $1, %xmm0, 0x07c(%rbx)	/* w4 007c */
	insertps $0x10, 0x07c(%rbx), %xmm0	/* r4 007c */
	pmovzxbq 0x081(%rbx), %xmm0	/* r2 0081 */
	pmovsxbd 0x081(%rbx), %xmm0	/* r4 0081 */
	pmovzxwd 0x081(%rbx), %xmm0	/* r8 0081 */
	movddup	0x088(%rbx), %xmm0	/* r8 0088 */
	movntdqa 0x090(%rbx), %xmm0	/* r16 0090 */
	lddqu	0x0a1(%rbx), %xmm0	/* r16 00a1 */
	movhps	0x0b8(%rbx), %xmm0	/* r8 00b8 */
	movlps	%xmm0, 0x0b0(%rbx)	/* w8 00b0 */
	aesenc	0x0c0(%rbx), %xmm0	/* r16 00c0 */
	pclmulqdq $0, 0x0d0(%rbx), %xmm0	/* r16 00d0 */
	cmpxchg16b 0x0e0(%rbx)		/* r16 00e0 w16 00e0 */

	/* v3: whole vectors, on one page and across two */
	vmovdqu	0x101(%rbx), %ymm0	/* r32 0101 */
	vmovdqu	%ymm0, 0x121(%rbx)	/* w32 0121 */
	vmovdqa	0x140(%rbx), %ymm0	/* r32 0140 */
	vmovaps	%ymm0, 0x160(%rbx)	/* w32 0160 */
	vmovntdq %ymm0, 0x180(%rbx)	/* w32 0180 */
	vmovntdqa 0x1a0(%rbx), %ymm0	/* r32 01a0 */
	vlddqu	0x1c1(%rbx), %ymm0	/* r32 01c1 */
	vmovdqu	0xff0(%rbx), %ymm0	/* r16 0ff0 r16 1000 */
	vmovdqu	0xfff(%rbx), %ymm0	/* r1 0fff r31 1000 */
	vmovups	%ymm0, 0xfe1(%rbx)	/* w31 0fe1 w1 1000 */
	vmovupd	%ymm0, 0xff8(%rbx)	/* w8 0ff8 w24 1000 */
	vmovdqu	0x201(%rbx), %xmm0	/* r16 0201 */
	vmovdqu	%xmm0, 0xffa(%rbx)	/* w6 0ffa w10 1000 */
	vpaddd	0x221(%rbx), %ymm0, %ymm1	/* r32 0221 */
	vpaddd	0xffc(%rbx), %ymm0, %ymm1	/* r4 0ffc r28 1000 */
	vpblendvb %ymm1, 0x240(%rbx), %ymm0, %ymm1	/* r32 0240 */
	vptest	0x260(%rbx), %ymm0	/* r32 0260 */
	vperm2i128 $0x21, 0x280(%rbx), %ymm0, %ymm1	/* r32 0280 */
	vpermd	0x2a0(%rbx), %ymm0, %ymm1	/* r32 02a0 */
	vmovddup 0x2c0(%rbx), %ymm0	/* r32 02c0 */

	/* parts of them */
	vbroadcastss 0x301(%rbx), %ymm0	/* r4 0301 */
	vbroadcastsd 0x305(%rbx), %ymm0	/* r8 0305 */
	vbroadcastf128 0x311(%rbx), %ymm0	/* r16 0311 */
	vbroadcasti128 0x321(%rbx), %ymm0	/* r16 0321 */
	vpbroadcastb 0x331(%rbx), %ymm0	/* r1 0331 */
	vpbroadcastw 0x332(%rbx), %ymm0	/* r2 0332 */
	vpbroadcastd 0x334(%rbx), %ymm0	/* r4 0334 */
	vpbroadcastq 0x338(%rbx), %ymm0	/* r8 0338 */
	vinsertf128 $1, 0x341(%rbx), %ymm0, %ymm0	/* r16 0341 */
	vextractf128 $1, %ymm0, 0x351(%rbx)	/* w16 0351 */
	vextracti128 $0, %ymm0, 0xff9(%rbx)	/* w7 0ff9 w9 1000 */
	vpmovzxbd 0x361(%rbx), %ymm0	/* r8 0361 */
	vpmovsxwd 0x361(%rbx), %ymm0	/* r16 0361 */
	vpmovzxbq 0x361(%rbx), %ymm0	/* r4 0361 */
	vcvtph2ps 0x371(%rbx), %ymm0	/* r16 0371 */
	vcvtps2ph $0, %ymm0, 0x381(%rbx)	/* w16 0381 */
	vcvtps2ph $0, %xmm0, 0x391(%rbx)	/* w8 0391 */
	vpxor	%ymm0, %ymm0, %ymm0
	vpxor	%ymm1, %ymm1, %ymm1
	vpslld	0x3a1(%rbx), %ymm0, %ymm0	/* r16 03a1 */
	vfmadd213ps 0x3b1(%rbx), %ymm0, %ymm1	/* r32 03b1 */
	vfmadd231sd 0x3d1(%rbx), %xmm0, %xmm1	/* r8 03d1 */
	vfnmsub132ss 0x3d9(%rbx), %xmm0, %xmm1	/* r4 03d9 */
	vzeroupper

	/* whole numbers of v3 */
	andnl	0x401(%rbx), %eax, %edx	/* r4 0401 */
	bextrq	%rax, 0x401(%rbx), %rdx	/* r8 0401 */
	blsrl	0x401(%rbx), %edx	/* r4 0401 */
	mulxq	0x411(%rbx), %rax, %rdx	/* r8 0411 */
	pdepq	0x411(%rbx), %rax, %rdx	/* r8 0411 */
	pextl	0x411(%rbx), %eax, %edx	/* r4 0411 */
	rorxq	$3, 0x421(%rbx), %rdx	/* r8 0421 */
	shlxl	%eax, 0x421(%rbx), %edx	/* r4 0421 */
	tzcntq	0x431(%rbx), %rdx	/* r8 0431 */
	lzcntw	0x431(%rbx), %dx	/* r2 0431 */
	movbel	0x441(%rbx), %edx	/* r4 0441 */
	movbeq	%rdx, 0xffd(%rbx)	/* w3 0ffd w5 1000 */

	/* masked loads and stores: elements 0, 2, 3 and 7, or 0 and 3 of four */
	vmovdqu	masks(%rip), %ymm5
	vmovdqu	wide_masks(%rip), %ymm6
	vpxor	%ymm7, %ymm7, %ymm7
	vpcmpeqd %ymm8, %ymm8, %ymm8
	vmaskmovps 0x500(%rbx), %ymm5, %ymm0	/* r4 051c r4 050c r4 0508 r4 0500 */
	vpmaskmovd 0x500(%rbx), %xmm5, %xmm0	/* r4 050c r4 0508 r4 0500 */
	vmaskmovpd 0x501(%rbx), %ymm6, %ymm0	/* r8 0519 r8 0501 */
	vpmaskmovq 0x501(%rbx), %ymm6, %ymm0	/* r8 0519 r8 0501 */
	vmaskmovps 0x500(%rbx), %ymm7, %ymm0
	vmaskmovps %ymm0, %ymm5, 0x540(%rbx)	/* w4 0540 w4 0548 w4 054c w4 055c */
	vpmaskmovd %xmm0, %xmm5, 0x540(%rbx)	/* w4 0540 w4 0548 w4 054c */
	vmaskmovpd %ymm0, %ymm6, 0x541(%rbx)	/* w8 0541 w8 0559 */
	vpmaskmovq %ymm0, %ymm6, 0x541(%rbx)	/* w8 0541 w8 0559 */
	vpmaskmovd %ymm0, %ymm8, 0x540(%rbx)	/* w4 0540 w4 0544 w4 0548 w4 054c w4 0550 w4 0554 w4 0558 w4 055c */
	vmaskmovps %ymm0, %ymm7, 0x540(%rbx)
	vpmaskmovd %ymm0, %ymm5, 0xff2(%rbx)	/* w4 0ff2 w4 0ffa w2 0ffe w2 1000 w4 100e */
	vpmaskmovq 0xffc(%rbx), %ymm6, %ymm0	/* r8 1014 r4 0ffc r4 1000 */
	/* what is not chosen need not be there */
	vpmaskmovd 0x2ff0(%rbx), %xmm5, %xmm0	/* r4 2ffc r4 2ff8 r4 2ff0 */
	vpmaskmovd %xmm0, %xmm5, 0x2ff0(%rbx)	/* w4 2ff0 w4 2ff8 w4 2ffc */
	vmovdqu	first_masks(%rip), %ymm9
	vpmaskmovd 0x2ff0(%rbx), %ymm9, %ymm0	/* r4 2ffc r4 2ff8 r4 2ff4 r4 2ff0 */
	vmaskmovps %ymm0, %ymm9, 0x2ff0(%rbx)	/* w4 2ff0 w4 2ff4 w4 2ff8 w4 2ffc */
	vmaskmovps HOLE(%rbx), %ymm7, %ymm0
	vmaskmovps %ymm0, %ymm7, HOLE(%rbx)
	/* a page that is made for the store: it is looked for once more, and written once */
	vpmaskmovd %ymm0, %ymm5, 0x4010(%rbx)	/* w4 4010 w4 4018 w4 401c w4 402c */
	vpmaskmovq %ymm0, %ymm6, 0x5ff0(%rbx)	/* w8 5ff0 w8 6008 */

	/* gathered: by indices that are 32 and 64 bits wide */
	vmovdqu	indices(%rip), %ymm1
	vmovdqu	wide_indices(%rip), %ymm2
	vmovdqa	%ymm5, %ymm3
	vpgatherdd %ymm3, 0x600(%rbx,%ymm1,4), %ymm0	/* r4 0604 r4 05fc r4 0e00 r4 061c */
	vmovdqa	%ymm8, %ymm3
	vgatherdps %xmm3, 0x600(%rbx,%xmm1,4), %xmm0	/* r4 0604 r4 0600 r4 05fc r4 0e00 */
	vmovdqa	%ymm6, %ymm3
	vgatherdpd %ymm3, 0x600(%rbx,%xmm1,8), %ymm0	/* r8 0608 r8 1600 */
	vmovdqa	%ymm6, %ymm3
	vpgatherqq %ymm3, 0x600(%rbx,%ymm2,1), %ymm0	/* r8 0603 r4 0ffc r4 1000 */
	vmovdqa	%ymm8, %ymm3
	vgatherqps %xmm3, 0x600(%rbx,%ymm2,1), %xmm0	/* r4 0603 r4 05fe r4 0600 r4 0ffc */
	vmovdqa	%ymm7, %ymm3
	vpgatherdd %ymm3, 0x600(%rbx,%ymm1,4), %ymm0
	/* one that faults goes on where it was: pages 7000 and 8000 were never touched */
	vmovdqa	%ymm8, %ymm3
	vmovdqu	far_indices(%rip), %ymm2
	vpgatherqq %ymm3, (%rbx,%ymm2,1), %ymm0	/* r8 0010 r8 7010 r8 0018 r8 8010 */
	vzeroupper

	/* A store that must not be made is none. */
	vmovdqu	masks(%rip), %ymm5
	vpmaskmovd %ymm0, %ymm5, 0x2ff0(%rbx)
	jmp	refused
segv:	incl	0x700(%rbx)		/* r4 0700 w4 0700 */
	leave_region

	.section .rodata
	.balign	32
masks:	.long	-1, 0, -1, -1, 0, 0, 0, 0x80000000
wide_masks:
	.quad	-1, 0, 0, 0x8000000000000000
first_masks:
	.long	-1, -1, -1, -1, 0, 0, 0, 0
indices:
	.long	1, 0, -1, 0x200, 3, 4, 5, 7
wide_indices:
	.quad	3, -2, 0, 0x9fc
far_indices:
	.quad	0x10, 0x7010, 0x18, 0x8010

	region_data

	.section .note.GNU-stack, "", @progbits
