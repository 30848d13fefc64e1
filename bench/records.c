/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * records: a trace on standard input, as records of 17 bytes on standard output.
 *
 * That is how many the collector of 2004 wrote for each reference: type and number of bytes, virtual
 * address and time stamp.  raw17 has 32 bits for an address, and the guests that are measured
 * have 64, so this record has: in its first byte the type, above it the number of bytes (one of at least 31
 * counts as that), in the next eight the time stamp, and in the last eight the address.
 */
#include <stdio.h>
#include <string.h>

#include <laplace/trace.h>

enum { RECORD = 17, AT_ONCE = 4096, MOST_BYTES = 31 };

static int die(const char *why)
{
	fprintf(stderr, "records: %s\n", why);
	return 1;
}

static void put(unsigned char *record, const struct lpl_ref *ref)
{
	const unsigned int bytes = ref->length < MOST_BYTES ? ref->length : MOST_BYTES;

	record[0] = (unsigned char)(ref->type | bytes << 3);
	memcpy(record + 1, &ref->cycle, sizeof(ref->cycle));
	memcpy(record + 9, &ref->address, sizeof(ref->address));
}

/* false: they cannot be written. */
static bool put_all(const struct lpl_ref *refs, size_t count)
{
	static unsigned char records[AT_ONCE * RECORD];

	while (count > 0) {
		const size_t part = count < AT_ONCE ? count : AT_ONCE;

		for (size_t i = 0; i < part; i++)
			put(records + i * RECORD, &refs[i]);
		if (fwrite(records, RECORD, part, stdout) != part)
			return false;
		refs += part;
		count -= part;
	}
	return true;
}

int main(void)
{
	struct lpl_report report = { .error = LPL_OK };
	const struct lpl_event *event;
	struct lpl_reader *reader;
	const struct lpl_ref *refs;
	size_t count;

	if (lpl_reader_open(&reader, "-", &report))
		return die(report.text);
	lpl_reader_jobs(reader, 0);
	do {
		if (lpl_reader_next(reader, &refs, &count, &event, &report))
			return die(report.text);
		if (!put_all(refs, count))
			return die("standard output cannot be written");
	} while (count > 0 || event);
	lpl_reader_close(reader);
	return fflush(stdout) == 0 ? 0 : die("standard output cannot be written");
}
