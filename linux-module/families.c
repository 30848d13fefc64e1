// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Families of address spaces: those that fork made of one another, and that may
 * share anonymous pages therefore.  A space with no living relatives does
 * not share.
 */
#include "laplace.h"

#include <linux/xarray.h>

static DEFINE_SPINLOCK(lpl_family_lock);
static DEFINE_XARRAY(lpl_family);	/* space -> its family */
static DEFINE_XARRAY(lpl_members);	/* family -> how many live */
static unsigned long lpl_last_family;

/* Memory ran out, so which spaces have relatives is not known: all may have. */
static bool lpl_family_unknown;

static void lpl_store(struct xarray *array, unsigned long index,
		      unsigned long value)
{
	if (xa_is_err(xa_store(array, index, xa_mk_value(value),
			       GFP_ATOMIC | __GFP_NOWARN)))
		WRITE_ONCE(lpl_family_unknown, true);
}

static unsigned long lpl_members_of(void *family)
{
	void *members = xa_load(&lpl_members, xa_to_value(family));

	return members ? xa_to_value(members) : 0;
}

static void lpl_join(u64 space, void *family)
{
	lpl_store(&lpl_family, space, xa_to_value(family));
	lpl_store(&lpl_members, xa_to_value(family), lpl_members_of(family) + 1);
}

void lpl_family_fork(const struct mm_struct *parent,
		     const struct mm_struct *child)
{
	unsigned long flags;
	void *family;

	spin_lock_irqsave(&lpl_family_lock, flags);
	family = xa_load(&lpl_family, lpl_space(parent));
	if (!family) {
		family = xa_mk_value(++lpl_last_family);
		lpl_join(lpl_space(parent), family);
	}
	lpl_join(lpl_space(child), family);
	spin_unlock_irqrestore(&lpl_family_lock, flags);
}

/* What was there before us: any of these may be related. */
void lpl_family_old(const struct mm_struct *mm)
{
	unsigned long flags;

	spin_lock_irqsave(&lpl_family_lock, flags);
	if (!xa_load(&lpl_family, lpl_space(mm)))
		lpl_join(lpl_space(mm), xa_mk_value(0));
	spin_unlock_irqrestore(&lpl_family_lock, flags);
}

void lpl_family_end(const struct mm_struct *mm)
{
	unsigned long flags, members;
	void *family;

	spin_lock_irqsave(&lpl_family_lock, flags);
	family = xa_erase(&lpl_family, lpl_space(mm));
	members = family ? lpl_members_of(family) : 0;
	if (members > 1)
		lpl_store(&lpl_members, xa_to_value(family), members - 1);
	else if (family)
		xa_erase(&lpl_members, xa_to_value(family));
	spin_unlock_irqrestore(&lpl_family_lock, flags);
}

bool lpl_has_family(const struct mm_struct *mm)
{
	void *family = xa_load(&lpl_family, lpl_space(mm));

	return (family && lpl_members_of(family) > 1) ||
	       READ_ONCE(lpl_family_unknown);
}

void lpl_family_exit(void)
{
	xa_destroy(&lpl_family);
	xa_destroy(&lpl_members);
}
