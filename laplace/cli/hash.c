/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hash of a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "hash.h"
#include "say.h"

static void say_hash(char text[HASH_SIZE], XXH128_hash_t hash)
{
	XXH128_canonical_t bytes;

	XXH128_canonicalFromHash(&bytes, hash);
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes.digest[i]);
}

int hash_file(char hash[HASH_SIZE], const char *path)
{
	static const size_t piece = 1 << 18;
	XXH3_state_t *state = XXH3_createState();
	char *buffer = malloc(piece);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : !state || !buffer ? ENOMEM : 0;
	ssize_t got = 0;

	if (!error) {
		XXH3_128bits_reset(state);
		while ((got = read(fd, buffer, piece)) > 0)
			XXH3_128bits_update(state, buffer, (size_t)got);
		error = got < 0 ? errno : 0;
		say_hash(hash, XXH3_128bits_digest(state));
	}
	XXH3_freeState(state);
	free(buffer);
	if (fd >= 0)
		close(fd);
	return error ? cli_complain(CLI_FAILED, "%s: %s", path, strerror(error)) : CLI_DONE;
}
