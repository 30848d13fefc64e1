/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a file of NumPy's begins with: shared by the one with all fields and those of columns. */
#ifndef LAPLACE_CONVERT_NPY_H
#define LAPLACE_CONVERT_NPY_H

#include "fields.h"

#define NPY_MAGIC "\x93NUMPY\x01"	/* and a 0 */
#define NPY_MAGIC_BYTES 8
#define NPY_HEADER_AT (NPY_MAGIC_BYTES + 2)
#define NPY_RECORDS_AT 512	/* of what is written; NumPy wants a multiple of 64 */

/*
 * The header of an array of so many records: NPY_RECORDS_AT bytes.  `fields` is all before the
 * count: "{'descr': ..., 'fortran_order': False, 'shape': (".  Returns what follows.
 */
static inline char *npy_put_header(char *out, const char *fields, uint64_t count)
{
	const unsigned int size = NPY_RECORDS_AT - NPY_HEADER_AT;
	char *end = out + NPY_RECORDS_AT - 1;

	memcpy(out, NPY_MAGIC, NPY_MAGIC_BYTES);
	out += NPY_MAGIC_BYTES;
	*out++ = (char)(size & 0xff);
	*out++ = (char)(size >> 8);
	out = stpcpy(lpl_put_decimal(stpcpy(out, fields), count), ",), }");
	memset(out, ' ', (size_t)(end - out));
	return put_newline(end);
}

#endif
