/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the guest's program prints is gathered for a tenth of a second (of the guest's), or until
 * there are 64 KB of it, and then written as one block: a program that prints often, and little,
 * does not have a disk's interrupt for each line in its trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

#define PATIENCE 100		/* ms */
#define LEAST_ROOM 4096		/* a page of a pipe */

uint64_t output_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t room_for(const struct output *output)
{
	return output->size - output->at;
}

bool output_open(struct output *output, const char *device)
{
	off_t size;

	output->disk = open(device, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (output->disk < 0)
		return false;
	size = lseek(output->disk, 0, SEEK_END);
	if (size < LOG_BLOCKS ||
	    pread(output->disk, output->block, LOG_SECTOR, LOG_START) != LOG_SECTOR)
		return false;
	output->size = (uint64_t)size;
	output->at = LOG_BLOCKS;
	memcpy(&output->end, output->block, sizeof(output->end));
	memset(output->block, 0, LOG_SECTOR);
	return pwrite(output->disk, output->block, LOG_SECTOR, LOG_START) == LOG_SECTOR;
}

static unsigned char *pieces(struct output *output)
{
	return output->block + sizeof(struct log_block);
}

static uint32_t room(const struct output *output)
{
	return (uint32_t)(LOG_BLOCK_SIZE - sizeof(struct log_block) - sizeof(uint64_t)) - output->used;
}

/* Do more bytes of that stream go on with the last piece? */
static bool goes_on(const struct output *output, uint32_t stream)
{
	return output->used > 0 && output->last.stream == stream;
}

enum output_result output_take(struct output *output, int pipe, uint32_t stream)
{
	size_t head;
	ssize_t got;

	if (room(output) < LEAST_ROOM) {
		enum output_result result = output_flush(output);

		if (result != OUTPUT_TAKEN)
			return result;
	}
	head = goes_on(output, stream) ? 0 : sizeof(output->last);
	got = read(pipe, pieces(output) + output->used + head, room(output) - head);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? OUTPUT_NONE : OUTPUT_FAILED;
	if (got == 0)
		return OUTPUT_OVER;
	if (output->used == 0)
		output->since = output_now();
	if (head != 0) {
		output->last = (struct log_piece){ .stream = stream };
		output->piece = output->used;
	}
	output->last.size += (uint32_t)got;
	memcpy(pieces(output) + output->piece, &output->last, sizeof(output->last));
	output->used += (uint32_t)(head + (size_t)got);
	output->end.printed += (uint64_t)got;
	return OUTPUT_TAKEN;
}

int output_due(const struct output *output)
{
	uint64_t passed;

	if (output->used == 0)
		return -1;
	passed = output_now() - output->since;
	return passed >= PATIENCE ? 0 : (int)(PATIENCE - passed);
}

enum output_result output_flush(struct output *output)
{
	uint64_t bytes = log_block_bytes(output->used), sequence = output->end.blocks + 1;
	struct log_block head = { .magic = LOG_MAGIC, .sequence = sequence, .size = output->used };
	size_t used = sizeof(head) + output->used;

	if (output->used == 0)
		return OUTPUT_TAKEN;
	if (bytes > room_for(output))
		return OUTPUT_FULL;
	memcpy(output->block, &head, sizeof(head));
	memset(output->block + used, 0, bytes - used);
	memcpy(output->block + bytes - sizeof(sequence), &sequence, sizeof(sequence));
	for (uint64_t done = 0; done < bytes;) {
		ssize_t more = pwrite(output->disk, output->block + done, bytes - done,
				      (off_t)(output->at + done));

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return OUTPUT_FAILED;
		done += (uint64_t)more;
	}
	output->at += bytes;
	output->end.blocks = sequence;
	output->used = 0;
	return OUTPUT_TAKEN;
}

bool output_close(struct output *output, enum log_how how, uint32_t status, const char *why)
{
	struct log_end *end = &output->end;

	end->how = how;
	end->status = status;
	memset(end->why, 0, sizeof(end->why));
	memcpy(end->why, why, strnlen(why, sizeof(end->why)));
	memcpy(output->block, end, sizeof(*end));
	return pwrite(output->disk, output->block, LOG_SECTOR, LOG_START) == LOG_SECTOR;
}
