/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that a machine reads and a checkpoint does not hold; see checkpoint_inputs.cc. */
#ifndef LAPLACE_CHECKPOINT_INPUTS_H
#define LAPLACE_CHECKPOINT_INPUTS_H

/* Is a drive's image only read?  (The others are in a checkpoint.)  As `ata.0.master'. */
bool laplace_input_is_only_read(const char *drive);

/* The machine starts: what they are now is what it reads.  Ends the program if it cannot be known. */
void laplace_inputs_begin(void);
/*
 * For a checkpoint in `directory`: what they are.  false: one of them has changed while the machine
 * used it, or the list cannot be written; it was said why.
 */
bool laplace_inputs_write(const char *directory);
/* Ends the program unless they are what that list says. */
void laplace_inputs_compare(const char *directory);

#endif
