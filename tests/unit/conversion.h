/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of conversion (convert.h) share: files in memory, formats, an import. */
#ifndef LAPLACE_TESTS_CONVERSION_H
#define LAPLACE_TESTS_CONVERSION_H

#include <laplace/convert.h>

#include "trace_file.h"

/* A file that holds this, to be read from its beginning. */
static inline int file_of(const char *text)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	const size_t size = strlen(text);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static inline const struct lpl_format *format_of(const char *name)
{
	const struct lpl_format *format = lpl_format_find(name);

	assert_non_null(format);
	assert_string_equal(lpl_format_name(format), name);
	return format;
}

static inline struct lpl_meta *meta_of(const char *reduction)
{
	struct lpl_meta *meta = lpl_meta_new();

	assert_non_null(meta);
	assert_int_equal(lpl_meta_set(meta, LPL_META_REDUCTION, reduction), LPL_OK);
	return meta;
}

/* All of the file, which is closed. */
static inline enum lpl_error import(const struct lpl_import_options *options, int fd,
				    struct lpl_sink *sink, struct lpl_report *report)
{
	struct lpl_importer *importer;
	enum lpl_error error = lpl_importer_open(&importer, options, report);

	if (!error)
		error = lpl_importer_run(importer, fd, sink, report);
	lpl_importer_close(importer);
	close(fd);
	return error;
}

#endif
