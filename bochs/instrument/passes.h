/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A part in a recording that several processes make (pass=); see passes.cc. */
#ifndef LAPLACE_PASSES_H
#define LAPLACE_PASSES_H

/* Before anything is opened: what one of them alone may use, the others do without. */
void laplace_passes_begin(void);
/* Is it a machine that others can go on with at the same time, and repeats?  Else the program ends. */
void laplace_passes_check(void);
/* Does it repeat, and does nothing come from outside that comes once?  Else the program ends. */
void laplace_passes_check_repeats(void);
/* The first pass made this checkpoint where the segment ends: so does this process, if it is at that place. */
struct laplace_resume_point;
[[noreturn]] void laplace_end_segment(const char *checkpoint, const struct laplace_resume_point *here);
/* The manifest that would name the segment that is written; NULL: none is. */
const char *laplace_part_path(void);

#endif
