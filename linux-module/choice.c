// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups of events that are reported only if they are chosen: nothing is attached for
 * one that is not.
 */
#include "laplace.h"

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>

struct lpl_choice {
	const char *name;		/* of lpl_hooks */
	int (*begin)(void);		/* before they are attached */
	void (*end)(void);		/* after none is any more */
	const char *with;		/* another one, before this, without which it is not chosen */
	bool chosen;
};

static struct lpl_choice lpl_choices[] = {
	{ "reclaim", lpl_reclaim_begin, lpl_reclaim_end, NULL, false },
	{ "lists", lpl_place_begin, lpl_place_end, "reclaim", false },
};

#define LPL_CHOICES ARRAY_SIZE(lpl_choices)

static DEFINE_MUTEX(lpl_choice_lock);

static char *lpl_choice_parameter = "none";
module_param_named(events, lpl_choice_parameter, charp, 0444);
MODULE_PARM_DESC(events, "events to report that are not always: none (default), all, or a list: reclaim, lists");

static void lpl_give_up(struct lpl_choice *choice)
{
	lpl_detach_choice(choice->name);
	choice->end();
	choice->chosen = false;
}

static int lpl_take_up(struct lpl_choice *choice)
{
	int error = choice->begin();

	if (error)
		return error;
	error = lpl_attach_choice(choice->name);
	if (error)
		choice->end();
	else
		choice->chosen = true;
	return error;
}

static int lpl_set_choice(struct lpl_choice *choice, bool chosen)
{
	if (choice->chosen == chosen)
		return 0;
	if (chosen)
		return lpl_take_up(choice);
	lpl_give_up(choice);
	return 0;
}

static bool lpl_note_choice(bool *chosen, const char *word)
{
	size_t i;

	for (i = 0; i < LPL_CHOICES; i++) {
		if (strcmp(lpl_choices[i].name, word))
			continue;
		chosen[i] = true;
		return !lpl_choices[i].with || lpl_note_choice(chosen, lpl_choices[i].with);
	}
	return false;
}

/* `list` is cut into pieces.  What cannot be had leaves the others as they are wanted. */
int lpl_choose_events(char *list)
{
	bool none = !strcmp(list, "none"), all = !strcmp(list, "all");
	bool chosen[LPL_CHOICES] = { };
	int error = 0, one;
	char *word;
	size_t i;

	while (!none && !all && (word = strsep(&list, ", ")))
		if (!lpl_note_choice(chosen, word))
			return -EINVAL;

	mutex_lock(&lpl_choice_lock);
	for (i = 0; i < LPL_CHOICES; i++) {
		one = lpl_set_choice(&lpl_choices[i], all || chosen[i]);
		error = error ?: one;
	}
	mutex_unlock(&lpl_choice_lock);
	return error;
}

int lpl_choice_init(void)
{
	char *list = kstrdup(lpl_choice_parameter, GFP_KERNEL);
	int error = -ENOMEM;

	if (list)
		error = lpl_choose_events(list);
	if (error)
		pr_err("events=%s: neither none nor all nor a list of reclaim and lists, or not to be had here (error %d)\n",
		       lpl_choice_parameter, error);
	kfree(list);
	if (error)
		lpl_choice_exit();
	return error;
}

void lpl_choice_exit(void)
{
	char none[] = "none";

	lpl_choose_events(none);
}

/* The names of those that are chosen, separated by commas, or "none". */
size_t lpl_choice_text(char *text, size_t size)
{
	size_t used = 0, i;

	mutex_lock(&lpl_choice_lock);
	for (i = 0; i < LPL_CHOICES; i++)
		if (lpl_choices[i].chosen)
			used += scnprintf(text + used, size - used, "%s%s", used ? "," : "",
					  lpl_choices[i].name);
	mutex_unlock(&lpl_choice_lock);
	return used ?: scnprintf(text, size, "none");
}
