/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is looked at before a collection begins; each ends the program when it is not as asked for. */
#ifndef LAPLACE_INSTRUMENT_SETUP_H
#define LAPLACE_INSTRUMENT_SETUP_H

struct lpl_meta;
struct lpl_windows;

/* The machine's images can be read, and neither they nor its other files are the trace. */
void laplace_check_files(void);
/* Where kernel= names an address or a file, the record there is watched from now on. */
void laplace_locate_kernel(void);
/* The trace's header; the caller's to free.  `windows`: of time; NULL: there are none. */
struct lpl_meta *laplace_header(const struct lpl_windows *windows);

#endif
