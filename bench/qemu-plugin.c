/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plugin of QEMU's TCG that records what laplace-bochs does, for bench/peers to compare:
 *
 *	-plugin qemu-plugin.so,what=all|windows,records=FILE,counts=FILE
 *
 * all: every reference, 16 bytes each.  windows: the stream is cut into windows of at most
 * WINDOW pages, and of each page in a window the first and the last reference are kept.
 * At the end counts=FILE gets a line: references seen, bytes written.
 *
 * A plugin is given virtual addresses but no address space, and of the processor's own
 * references none.  One virtual processor is expected.
 *
 * Debian's QEMU has plugins but no header for them: what is called of its interface is
 * declared here, as far as it is needed.  API: its version, by default 1.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef API
#define API 1
#endif

/* ---- QEMU's interface ---- */

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;		/* a block that was translated */
struct qemu_plugin_insn;	/* an instruction in it */
enum { NO_REGISTERS = 0, READS_AND_WRITES = 3 };

extern EXPORTED int qemu_plugin_version;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
		void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*callback)(unsigned processor, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
		void (*callback)(unsigned processor, uint32_t info, uint64_t address, void *data),
		int flags, int rw, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
		void (*callback)(qemu_plugin_id_t, void *data), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

int qemu_plugin_version = API;

/* ---- records ---- */

enum { PAGE_SHIFT = 12, WINDOW = 64, SLOTS = 256, BUFFER = 65536 };
enum { READ, WRITE, FETCH };	/* as enum lpl_type */

struct record {
	uint64_t address;
	uint64_t what;		/* the reference's number << 16 | length << 8 | type */
};

/* A page of the current window, in an open hash table. */
struct slot {
	uint64_t page, window;
	struct record first, last;
};

static struct {
	uint64_t references, bytes;
	uint64_t window;		/* its number, from 1: other slots are empty */
	unsigned pages;			/* in it */
	size_t used;			/* of the buffer */
	int records;
	char counts[4096];
	struct slot slots[SLOTS];
	struct record buffer[BUFFER];
} tracer = { .window = 1, .records = -1 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void write_buffer(void)
{
	const char *from = (const char *)tracer.buffer;
	size_t left = tracer.used * sizeof(tracer.buffer[0]);

	tracer.bytes += left;
	while (left) {
		ssize_t n = write(tracer.records, from, left);

		if (n < 0)
			fail("qemu-plugin: records");
		from += n;
		left -= (size_t)n;
	}
	tracer.used = 0;
}

static inline void put(struct record record)
{
	tracer.buffer[tracer.used++] = record;
	if (tracer.used == BUFFER)
		write_buffer();
}

static inline struct record next_record(uint64_t address, uint64_t length, uint64_t type)
{
	return (struct record){ address, ++tracer.references << 16 | length << 8 | type };
}

static void end_window(void)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct slot *slot = &tracer.slots[i];

		if (slot->window != tracer.window)
			continue;
		put(slot->first);
		if (slot->last.what != slot->first.what)
			put(slot->last);
	}
	tracer.window++;
	tracer.pages = 0;
}

static inline struct slot *find(uint64_t page)
{
	unsigned i = (unsigned)(page * UINT64_C(0x9e3779b97f4a7c15) >> 56) % SLOTS;

	while (tracer.slots[i].window == tracer.window && tracer.slots[i].page != page)
		i = (i + 1) % SLOTS;
	return &tracer.slots[i];
}

static inline void keep_in_window(struct record record)
{
	uint64_t page = record.address >> PAGE_SHIFT;
	struct slot *slot = find(page);

	if (slot->window == tracer.window) {
		slot->last = record;
		return;
	}
	if (tracer.pages == WINDOW) {
		end_window();
		slot = find(page);
	}
	tracer.pages++;
	*slot = (struct slot){ page, tracer.window, record, record };
}

/* ---- what QEMU calls ---- */

/* An instruction, as data of its callback: virtual addresses have their sign in bit 47. */
static void *packed(uint64_t address, size_t length)
{
	return (void *)(uintptr_t)(address << 8 | length);
}

static inline struct record fetched(void *data)
{
	int64_t word = (int64_t)(uintptr_t)data;

	return next_record((uint64_t)(word >> 8), word & 0xff, FETCH);
}

static inline struct record accessed(uint32_t info, uint64_t address)
{
	return next_record(address, UINT64_C(1) << qemu_plugin_mem_size_shift(info),
			   qemu_plugin_mem_is_store(info) ? WRITE : READ);
}

static void all_fetch(unsigned processor, void *data)
{
	(void)processor;
	put(fetched(data));
}

static void all_access(unsigned processor, uint32_t info, uint64_t address, void *data)
{
	(void)processor, (void)data;
	put(accessed(info, address));
}

static void window_fetch(unsigned processor, void *data)
{
	(void)processor;
	keep_in_window(fetched(data));
}

static void window_access(unsigned processor, uint32_t info, uint64_t address, void *data)
{
	(void)processor, (void)data;
	keep_in_window(accessed(info, address));
}

static void (*on_fetch)(unsigned, void *);
static void (*on_access)(unsigned, uint32_t, uint64_t, void *);

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, NO_REGISTERS,
				packed(qemu_plugin_insn_vaddr(insn), qemu_plugin_insn_size(insn)));
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, NO_REGISTERS, READS_AND_WRITES,
						 NULL);
	}
}

static void ended(qemu_plugin_id_t id, void *data)
{
	FILE *counts = fopen(tracer.counts, "w");

	(void)id, (void)data;
	end_window();
	write_buffer();
	if (!counts || fprintf(counts, "%llu %llu\n", (unsigned long long)tracer.references,
			       (unsigned long long)tracer.bytes) < 0 || fclose(counts))
		fail("qemu-plugin: counts");
}

static const char *value(const char *argument, const char *key)
{
	size_t length = strlen(key);

	return strncmp(argument, key, length) ? NULL : argument + length;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		const char *v;

		if ((v = value(argv[i], "records=")))
			tracer.records = open(v, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		else if ((v = value(argv[i], "counts=")))
			snprintf(tracer.counts, sizeof(tracer.counts), "%s", v);
		else if (!strcmp(argv[i], "what=all"))
			on_fetch = all_fetch, on_access = all_access;
		else if (!strcmp(argv[i], "what=windows"))
			on_fetch = window_fetch, on_access = window_access;
	}
	if (tracer.records < 0 || !*tracer.counts || !on_fetch) {
		fprintf(stderr, "qemu-plugin: wants what=all|windows, records=FILE and counts=FILE\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
