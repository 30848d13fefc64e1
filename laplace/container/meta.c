/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace is: an ordered map of strings. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "chunk.h"
#include "meta.h"

struct pair {
	char *key, *value;
};

struct lpl_meta {
	struct pair *pairs;
	size_t count, room;
};

struct lpl_meta *lpl_meta_new(void)
{
	return calloc(1, sizeof(struct lpl_meta));
}

void lpl_meta_free(struct lpl_meta *meta)
{
	if (!meta)
		return;
	for (size_t i = 0; i < meta->count; i++) {
		free(meta->pairs[i].key);
		free(meta->pairs[i].value);
	}
	free(meta->pairs);
	free(meta);
}

struct lpl_meta *lpl_meta_copy(const struct lpl_meta *meta)
{
	struct lpl_meta *copy = lpl_meta_new();

	for (size_t i = 0; copy && i < meta->count; i++) {
		if (lpl_meta_set(copy, meta->pairs[i].key, meta->pairs[i].value) != LPL_OK) {
			lpl_meta_free(copy);
			copy = NULL;
		}
	}
	return copy;
}

static struct pair *find(const struct lpl_meta *meta, const char *key, size_t length)
{
	for (size_t i = 0; i < meta->count; i++) {
		struct pair *pair = &meta->pairs[i];

		if (strncmp(pair->key, key, length) == 0 && pair->key[length] == '\0')
			return pair;
	}
	return NULL;
}

void lpl_meta_remove(struct lpl_meta *meta, const char *key)
{
	struct pair *pair = find(meta, key, strlen(key));

	if (!pair)
		return;
	free(pair->key);
	free(pair->value);
	meta->count--;
	memmove(pair, pair + 1, (size_t)(meta->pairs + meta->count - pair) * sizeof(*pair));
}

static bool key_is_valid(const char *key, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = key[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return length > 0;
}

/* Append a pair of valid strings with a key that is new. */
static enum lpl_error append(struct lpl_meta *meta, const char *key, size_t key_length,
			     const char *value, size_t value_length)
{
	struct pair pair;

	if (meta->count == LPL_META_PAIRS_MAX)
		return LPL_ERR_USAGE;
	if (!lpl_reach(meta->pairs, meta->room, meta->count))
		return LPL_ERR_MEMORY;
	pair.key = strndup(key, key_length);
	pair.value = strndup(value, value_length);
	if (!pair.key || !pair.value) {
		free(pair.key);
		free(pair.value);
		return LPL_ERR_MEMORY;
	}
	meta->pairs[meta->count++] = pair;
	return LPL_OK;
}

enum lpl_error lpl_meta_set(struct lpl_meta *meta, const char *key, const char *value)
{
	size_t key_length = strlen(key);
	struct pair *pair;
	char *copy;

	if (!key_is_valid(key, key_length) || strchr(value, '\n'))
		return LPL_ERR_USAGE;
	pair = find(meta, key, key_length);
	if (!pair)
		return append(meta, key, key_length, value, strlen(value));
	copy = strdup(value);
	if (!copy)
		return LPL_ERR_MEMORY;
	free(pair->value);
	pair->value = copy;
	return LPL_OK;
}

const char *lpl_meta_get(const struct lpl_meta *meta, const char *key)
{
	const struct pair *pair = find(meta, key, strlen(key));

	return pair ? pair->value : NULL;
}

size_t lpl_meta_count(const struct lpl_meta *meta)
{
	return meta->count;
}

void lpl_meta_at(const struct lpl_meta *meta, size_t i, const char **key, const char **value)
{
	*key = meta->pairs[i].key;
	*value = meta->pairs[i].value;
}

size_t lpl_meta_size(const struct lpl_meta *meta)
{
	size_t size = 0;

	for (size_t i = 0; i < meta->count; i++)
		size += strlen(meta->pairs[i].key) + strlen(meta->pairs[i].value) + 2;
	return size;
}

void lpl_meta_encode(const struct lpl_meta *meta, char *out)
{
	for (size_t i = 0; i < meta->count; i++) {
		size_t key_length = strlen(meta->pairs[i].key);
		size_t value_length = strlen(meta->pairs[i].value);

		memcpy(out, meta->pairs[i].key, key_length);
		out += key_length;
		*out++ = '=';
		memcpy(out, meta->pairs[i].value, value_length);
		out += value_length;
		*out++ = '\n';
	}
}

enum lpl_error lpl_meta_decode(struct lpl_meta *meta, const char *text, size_t size)
{
	const char *at = text, *end = text + size;

	if (size > 0 && memchr(text, '\0', size))
		return LPL_ERR_DAMAGED;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *equals = newline ? memchr(at, '=', (size_t)(newline - at)) : NULL;
		enum lpl_error error;

		if (!equals || !key_is_valid(at, (size_t)(equals - at)) ||
		    find(meta, at, (size_t)(equals - at)))
			return LPL_ERR_DAMAGED;
		error = append(meta, at, (size_t)(equals - at),
			       equals + 1, (size_t)(newline - equals - 1));
		if (error != LPL_OK)
			return error == LPL_ERR_MEMORY ? error : LPL_ERR_DAMAGED;
		at = newline + 1;
	}
	return LPL_OK;
}
