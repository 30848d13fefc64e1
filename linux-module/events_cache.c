// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of the page cache: which frame holds which page of which file.
 */
#include "laplace.h"

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>

/*
 * A SysV segment's inode number is its id, and in the same file system other
 * shared memory is numbered from 1: this keeps the two apart.
 */
#define LPL_SYSV_INODE	(1ULL << 63)

/* The kernel names the file behind a segment so, and it has just this name. */
bool lpl_inode_is_sysv(struct inode *inode)
{
	struct hlist_node *node;
	bool sysv = false;

	if (!IS_PRIVATE(inode) ||
	    (inode->i_sb->s_magic != TMPFS_MAGIC &&
	     inode->i_sb->s_magic != HUGETLBFS_MAGIC))
		return false;
	rcu_read_lock();
	node = READ_ONCE(inode->i_dentry.first);
	if (node)
		sysv = !strncmp(hlist_entry(node, struct dentry, d_u.d_alias)->d_name.name,
				"SYSV", 4);
	rcu_read_unlock();
	return sysv;
}

u64 lpl_inode_id(struct inode *inode)
{
	return inode->i_ino | (lpl_inode_is_sysv(inode) ? LPL_SYSV_INODE : 0);
}

static void lpl_cache(u32 tag, struct folio *folio, struct inode *inode,
		      pgoff_t index)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, tag);
	record->arg[0] = inode->i_sb->s_dev;
	record->arg[1] = lpl_inode_id(inode);
	record->arg[2] = index;
	record->arg[3] = folio_pfn(folio);
	record->arg[4] = folio_nr_pages(folio);
	if (tag == KTR_CACHE_ADD)
		record->arg[5] = (unsigned long)folio_address(folio) ?: KTR_NONE;
	lpl_end(flags);
}

/* The file a folio caches; swap's cache has none. */
static struct inode *lpl_folio_inode(struct folio *folio)
{
	struct address_space *mapping = READ_ONCE(folio->mapping);

	if (!mapping || folio_test_anon(folio) || !mapping->host)
		return NULL;
	return mapping->host;
}

void lpl_cache_add(struct folio *folio)
{
	struct inode *inode = lpl_folio_inode(folio);

	if (inode)
		lpl_cache(KTR_CACHE_ADD, folio, inode, folio->index);
}

static void lpl_filemap_add(void *data, struct folio *folio)
{
	lpl_cache_add(folio);
}

static void lpl_filemap_delete(void *data, struct folio *folio)
{
	struct inode *inode = lpl_folio_inode(folio);

	if (inode)
		lpl_cache(KTR_CACHE_REMOVE, folio, inode, folio->index);
}

/* shmem_add_to_page_cache(folio, ...): tmpfs has its own way in. */
static int lpl_shmem_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct folio **folio = (void *)ri->data;

	*folio = (void *)regs_get_kernel_argument(regs, 0);
	return 0;
}

static int lpl_shmem_returned(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	struct folio **folio = (void *)ri->data;

	if (!(int)regs_return_value(regs))
		lpl_cache_add(*folio);
	return 0;
}

/* folio_migrate_mapping(mapping, to, from, ...): another frame takes over. */
struct lpl_migration {
	struct folio *to;
	struct folio *from;
};

static int lpl_migrate_entered(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct lpl_migration *migration = (void *)ri->data;

	migration->to = (void *)regs_get_kernel_argument(regs, 1);
	migration->from = (void *)regs_get_kernel_argument(regs, 2);
	return !regs_get_kernel_argument(regs, 0) ||
	       !lpl_folio_inode(migration->from);
}

static int lpl_migrate_returned(struct kretprobe_instance *ri,
				struct pt_regs *regs)
{
	struct lpl_migration *migration = (void *)ri->data;
	struct inode *inode;

	if ((int)regs_return_value(regs))
		return 0;
	inode = lpl_folio_inode(migration->to);
	if (!inode)
		return 0;
	lpl_cache(KTR_CACHE_REMOVE, migration->from, inode, migration->to->index);
	lpl_cache(KTR_CACHE_ADD, migration->to, inode, migration->to->index);
	return 0;
}

static struct lpl_hook lpl_cache_hook[] = {
	{
		.event = "cache_add",
		.points = { {
			.name = "mm_filemap_add_to_page_cache",
			.tracepoint = lpl_filemap_add,
		} },
	}, {
		.event = "cache_add_shmem",
		.points = { {
			.name = "shmem_add_to_page_cache",
			.entered = lpl_shmem_entered,
			.returned = lpl_shmem_returned,
			.data = sizeof(struct folio *),
		} },
	}, {
		.event = "cache_remove",
		.points = { {
			.name = "mm_filemap_delete_from_page_cache",
			.tracepoint = lpl_filemap_delete,
		} },
	}, {
		.event = "cache_migrate",
		.optional = !IS_ENABLED(CONFIG_MIGRATION),
		.points = { {
			.name = "folio_migrate_mapping",
			.entered = lpl_migrate_entered,
			.returned = lpl_migrate_returned,
			.data = sizeof(struct lpl_migration),
		} },
	},
};

const struct lpl_hooks lpl_cache_hooks = {
	lpl_cache_hook, ARRAY_SIZE(lpl_cache_hook),
};
