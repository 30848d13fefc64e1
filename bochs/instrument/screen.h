/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bochs' window: its status bar shows whether it is recorded, and a key switches that. */
#ifndef LAPLACE_INSTRUMENT_SCREEN_H
#define LAPLACE_INSTRUMENT_SCREEN_H

/* Before the machine starts; without a window nothing happens. */
void laplace_screen_begin(void);

#endif
