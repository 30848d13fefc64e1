// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events of the page cache: which frame holds which page of which file.
 */
#include "laplace.h"

#include <linux/blkdev.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include <linux/swapops.h>

/*
 * A SysV segment's inode number is its id, and in the same file system other
 * shared memory is numbered from 1: this keeps the two apart.
 */
#define LPL_SYSV_INODE	(1ULL << 63)

/* The kernel names a segment's file so, and it has just this name. */
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

/* The inode that has the pages: a block device's is not that of its name. */
struct inode *lpl_file_inode(const struct file *file)
{
	return file->f_mapping->host;
}

u64 lpl_inode_id(struct inode *inode)
{
	/* As later kernels number them; before, they all had the same number. */
	if (inode->i_sb == blockdev_superblock)
		return inode->i_rdev;
	return inode->i_ino | (lpl_inode_is_sysv(inode) ? LPL_SYSV_INODE : 0);
}

static enum ktr_file lpl_file_kind(const struct inode *inode)
{
	if (S_ISREG(inode->i_mode))
		return KTR_FILE_REGULAR;
	if (S_ISBLK(inode->i_mode))
		return KTR_FILE_BLOCK;
	if (S_ISDIR(inode->i_mode))
		return KTR_FILE_DIRECTORY;
	if (S_ISLNK(inode->i_mode))
		return KTR_FILE_LINK;
	return KTR_FILE_OTHER;
}

/*
 * One of its names; a path below the root of its file system, unless that is
 * too long.  Freed and renamed names stay readable under RCU.
 */
static void lpl_file_text(struct kernel_trace_record *record,
			  struct inode *inode)
{
	struct hlist_node *node;
	struct dentry *dentry;
	char *path;

	if (inode->i_sb == blockdev_superblock) {
		record->text_length = scnprintf(record->text, KTR_TEXT, "%pg",
						I_BDEV(inode));
		return;
	}
	rcu_read_lock();
	node = READ_ONCE(inode->i_dentry.first);
	if (node) {
		dentry = hlist_entry(node, struct dentry, d_u.d_alias);
		path = IS_ROOT(dentry) ? ERR_PTR(-ENOENT) :
					 dentry_path_raw(dentry, record->text, KTR_TEXT);
		if (IS_ERR(path)) {
			lpl_text(record, READ_ONCE(dentry->d_name.name), KTR_TEXT);
		} else {
			record->text_length = strlen(path);
			memmove(record->text, path, record->text_length);
		}
	}
	rcu_read_unlock();
}

void lpl_file(struct inode *inode)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, KTR_FILE);
	record->arg[KTR_FILE_DEVICE] = inode->i_sb->s_dev;
	record->arg[KTR_FILE_INODE] = lpl_inode_id(inode);
	record->arg[KTR_FILE_KIND] = lpl_file_kind(inode);
	record->arg[KTR_FILE_GENERATION] = inode->i_generation;
	if (S_ISBLK(inode->i_mode))
		record->arg[KTR_FILE_OWN_DEVICE] = inode->i_rdev;
	lpl_file_text(record, inode);
	lpl_end(flags);
}

/* The page of the file that the folio begins with. */
pgoff_t lpl_folio_index(struct folio *folio)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	/* hugetlbfs counted in its own pages. */
	if (folio_test_hugetlb(folio))
		return folio->index * folio_nr_pages(folio);
#endif
	return folio->index;
}

static void lpl_cache(u32 tag, struct folio *folio, struct inode *inode,
		      pgoff_t index)
{
	struct kernel_trace_record *record;
	unsigned long flags;

	record = lpl_begin(&flags, tag);
	record->arg[KTR_CACHE_DEVICE] = inode->i_sb->s_dev;
	record->arg[KTR_CACHE_INODE] = lpl_inode_id(inode);
	record->arg[KTR_CACHE_OFFSET] = index;
	record->arg[KTR_CACHE_FRAME] = folio_pfn(folio);
	record->arg[KTR_CACHE_PAGES] = folio_nr_pages(folio);
	if (tag == KTR_CACHE_ADD)
		record->arg[KTR_CACHE_ADD_ADDRESS] = (unsigned long)folio_address(folio) ?: KTR_NONE;
	lpl_end(flags);
}

/* The file a folio caches; swap's cache has none. */
struct inode *lpl_folio_inode(struct folio *folio)
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
		lpl_cache(KTR_CACHE_ADD, folio, inode, lpl_folio_index(folio));
}

void lpl_cache_remove(struct folio *folio, struct inode *inode)
{
	lpl_cache(KTR_CACHE_REMOVE, folio, inode, lpl_folio_index(folio));
}

/* A folio enters the cache; if nothing of its file was there, the file does. */
static void lpl_cache_enter(struct folio *folio)
{
	struct inode *inode = lpl_folio_inode(folio);

	if (inode && folio->mapping->nrpages <= folio_nr_pages(folio))
		lpl_file(inode);
	lpl_cache_add(folio);
}

static void lpl_filemap_add(void *data, struct folio *folio)
{
	lpl_cache_enter(folio);
}

static void lpl_filemap_delete(void *data, struct folio *folio)
{
	struct inode *inode = lpl_folio_inode(folio);

	if (inode)
		lpl_cache_remove(folio, inode);
}

/*
 * shmem_add_to_page_cache(folio, mapping, index, expected, ...): tmpfs has its
 * own way in.  What is expected there is nothing, or an entry of swap.
 */
struct lpl_shmem_in {
	struct folio *folio;
	void *expected;
};

static int lpl_shmem_entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct lpl_shmem_in *in = (void *)ri->data;

	in->folio = (void *)lpl_arg(ri, regs, PAGE);
	in->expected = (void *)lpl_arg(ri, regs, EXPECTED);
	return 0;
}

static int lpl_shmem_returned(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	struct lpl_shmem_in *in = (void *)ri->data;

	if ((int)regs_return_value(regs))
		return 0;
	if (in->expected)
		lpl_swap_shared(KTR_SWAP_IN, in->folio, in->folio->mapping->host,
				radix_to_swp_entry(in->expected));
	lpl_cache_enter(in->folio);
	return 0;
}

/*
 * folio_migrate_mapping(mapping, to, from, ...): another frame takes over.  In later
 * kernels most callers pass by it, to the function that it has become a shell of.
 */
struct lpl_migration {
	struct folio *to;
	struct folio *from;
};

static int lpl_migrate_entered(struct kretprobe_instance *ri,
			       struct pt_regs *regs)
{
	struct lpl_migration *migration = (void *)ri->data;

	migration->to = (void *)lpl_arg(ri, regs, TO);
	migration->from = (void *)lpl_arg(ri, regs, PAGE);
	return !lpl_arg(ri, regs, MAPPING) ||
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
		.points = { {
			LPL_AT(mm_filemap_add_to_page_cache),
			.tracepoint = lpl_filemap_add,
		} },
	}, {
		.points = { {
			LPL_AT(shmem_add_to_page_cache),
			.entered = lpl_shmem_entered,
			.returned = lpl_shmem_returned,
			.data = sizeof(struct lpl_shmem_in),
		} },
	}, {
		.points = { {
			LPL_AT(mm_filemap_delete_from_page_cache),
			.tracepoint = lpl_filemap_delete,
		} },
	}, {
		.points = { {
			LPL_AT(__folio_migrate_mapping),
			.entered = lpl_migrate_entered,
			.returned = lpl_migrate_returned,
			.data = sizeof(struct lpl_migration),
		}, {
			LPL_AT(folio_migrate_mapping),
			.entered = lpl_migrate_entered,
			.returned = lpl_migrate_returned,
			.data = sizeof(struct lpl_migration),
		}, {
			LPL_AT(migrate_page_move_mapping),
			.entered = lpl_migrate_entered,
			.returned = lpl_migrate_returned,
			.data = sizeof(struct lpl_migration),
		} },
	},
};

const struct lpl_hooks lpl_cache_hooks = {
	lpl_cache_hook, ARRAY_SIZE(lpl_cache_hook),
};
