/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The disk by which a guest of `laplace run` hands on what its program prints, and how that
 * ended: start-program writes it (output.c), and take-output.c on the host follows it while it
 * grows.
 *
 * Why a disk: what is printed costs the guest a disk's write for up to 64 KB of it, by DMA and
 * past the page cache, where a serial line would cost an instruction and an exit for each byte,
 * in the trace; the host's file has holes wherever nothing was written, and again where it has
 * been read, so that neither side has to hold what was printed; and no file system stands
 * between the two.
 *
 * At LOG_START there is one sector, `struct log_end`.  The host makes it with a secret of this
 * run's own.  start-program takes that out before any other program runs, and writes it again
 * only with the end, when no other program is left: so an end with that secret is
 * start-program's, even if the traced program is root and finds the disk.  Before LOG_START
 * there is nothing, for a kernel that looks for partitions.
 *
 * From LOG_BLOCKS on there are blocks of whole sectors: `struct log_block`, pieces (`struct
 * log_piece` and its bytes), zeros, and in the last eight bytes the block's sequence number
 * again. A disk's sectors are written in order, so that a block is whole once its last eight
 * bytes are there.  Sequence numbers begin with 1.  All numbers are little-endian.
 */
#ifndef OUTPUT_LOG_H
#define OUTPUT_LOG_H

#include <stdint.h>

#define LOG_MAGIC	0x74757074756f4c50u	/* "PLoutput" */
#define LOG_SECTOR	512
#define LOG_START	65536
#define LOG_BLOCKS	(LOG_START + 4096)
#define LOG_BLOCK_SIZE	65536			/* at most */

enum log_how {
	LOG_NOT_YET,
	LOG_ENDED,	/* with `status` */
	LOG_LATE,	/* when its time was over */
	LOG_FULL,	/* when it had printed more than the disk holds */
	LOG_FAILED,	/* it could not be run, or not to its end: `why` */
};

struct log_end {
	uint8_t secret[16];
	uint64_t blocks, printed;	/* how many, and how many bytes in all */
	uint64_t total, available;	/* memory, in KiB, when the program began (/proc/meminfo) */
	uint32_t how, status;
	char why[LOG_SECTOR - 56];	/* a text, to its end or to a null byte */
};

struct log_block {
	uint64_t magic, sequence;
	uint32_t size, unused;		/* of all pieces */
};

struct log_piece {
	uint32_t stream, size;		/* 1: its stdout, 2: its stderr */
};

_Static_assert(sizeof(struct log_end) == LOG_SECTOR, "one sector");

/* Of a block with pieces of `size` bytes. */
static inline uint64_t log_block_bytes(uint64_t size)
{
	uint64_t bytes = sizeof(struct log_block) + size + sizeof(uint64_t);

	return (bytes + LOG_SECTOR - 1) / LOG_SECTOR * LOG_SECTOR;
}

#endif
