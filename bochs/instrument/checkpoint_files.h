/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The directory that a checkpoint is, as files; see checkpoint_files.cc. */
#ifndef LAPLACE_CHECKPOINT_FILES_H
#define LAPLACE_CHECKPOINT_FILES_H

#include <cstdint>

/* All of these: false with errno if it could not be done, or not all of it. */

/* The files and the directory's entries are on the disk. */
bool laplace_sync_files(const char *directory);
/* So is what is called `path`. */
bool laplace_sync_parent(const char *path);
/* With all files in it, if it is there; what is no directory of files is left as it is. */
bool laplace_remove_directory(const char *path);

/* What is in a file, in a number: against errors, not against forgers. */
bool laplace_digest_file(const char *path, uint64_t *digest);
/* The same of all files, their names too, but for that which is called `except`. */
bool laplace_digest_files(const char *directory, const char *except, uint64_t *digest);

#endif
