/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A forked process gets files of its own; see forks_files.cc. */
#ifndef LAPLACE_FORKS_FILES_H
#define LAPLACE_FORKS_FILES_H

/* Whatever this process does with its files is no matter to its parent, and the other way round; false: see errno. */
bool laplace_files_alone(void);

#endif
