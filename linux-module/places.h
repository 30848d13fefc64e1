/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the module expects of a kernel: the functions and tracepoints where it sees events, with
 * what it reads of their arguments, and the structures' members that it reads.  find-places.c
 * looks each up in the kernel's own type information; handlers find an argument by its part here.
 *
 * Where the kernel changed a function, each of its forms has a row.  A row that does not hold for a
 * kernel is not used there, and an event with none that does is refused by name.
 */
#ifndef LAPLACE_PLACES_H
#define LAPLACE_PLACES_H

#include <stdbool.h>

#define PLACE_ARGS 5

/*
 * An argument: its part for the handler (LPL_ARG_PART), its type, and its name, where the type
 * alone does not decide.  Both may be several, separated by bars.  An optional one is used where
 * the function has it.
 */
struct place_arg {
	const char *part;
	const char *type;
	const char *name;
	bool optional;
};

struct place {
	const char *event;		/* of rows with the same event, one has to hold */
	const char *choice;		/* unless it is for this choice alone, which is not offered then */
	const char *config;		/* unless the kernel lacks one of these options; "": always */
	const char *id;			/* LPL_AT(id); NULL: the function's name */
	const char *function;		/* a part of one, NAME.part.0, has the arguments of the whole */
	const char *returned;		/* NULL: of no interest */
	struct place_arg arg[PLACE_ARGS];
	const char *tracepoint;		/* all its arguments' types, in order; `arg` is unused */
};

#define PAGES "struct folio *|struct page *"
#define PAGE { "PAGE", PAGES, NULL, false }
#define LIST { "LIST", "struct list_head *", NULL, false }
#define LRUVEC { "LRUVEC", "struct lruvec *", NULL, false }
#define CONTROL { "CONTROL", "struct scan_control *", NULL, false }
#define ISOLATION \
	LIST, { "SCANNED", "unsigned long *", NULL, false }, CONTROL, \
	{ "LRU", "enum lru_list", NULL, false }
#define PTE { "PTE", "pte_t *", NULL, false }
#define PMD { "PMD", "pmd_t *", NULL, false }
#define MIGRATION \
	{ "MAPPING", "struct address_space *", NULL, false }, \
	{ "TO", PAGES, "newfolio|newpage", false }, { "PAGE", PAGES, "folio|page", false }
#define MOVE \
	{ "VMA", "struct vm_area_struct *", "vma", false }, NUMBER("ADDRESS", "old_addr"), \
	{ "TO_VMA", "struct vm_area_struct *", "new_vma", false }, \
	NUMBER("TO_ADDRESS", "new_addr"), NUMBER("LENGTH", "len")
#define VMA { "VMA", "struct vm_area_struct *", NULL, false }
#define VMF { "VMF", "struct vm_fault *", NULL, false }
#define MM { "MM", "struct mm_struct *", NULL, false }
#define ADDRESS { "ADDRESS", "unsigned long", NULL, false }
#define NUMBER(part, name) { part, "unsigned long", name, false }

static const struct place places[] = {
	/* events_task.c */
	{ .event = "task_create", .function = "task_newtask",
	  .tracepoint = "struct task_struct *, unsigned long" },
	{ .event = "task_create", .function = "sched_process_fork",
	  .tracepoint = "struct task_struct *, struct task_struct *" },
	{ .event = "schedule", .id = "sched_switch_and_state", .function = "sched_switch",
	  .tracepoint = "bool, struct task_struct *, struct task_struct *, unsigned int" },
	{ .event = "schedule", .function = "sched_switch",
	  .tracepoint = "bool, struct task_struct *, struct task_struct *" },
	{ .event = "wake", .config = "", .function = "sched_waking",
	  .tracepoint = "struct task_struct *" },
	{ .event = "space_assign", .function = "membarrier_exec_mmap", .arg = { MM } },
	{ .event = "space_assign", .function = "set_mm_exe_file", .arg = { MM } },
	{ .event = "exec", .function = "sched_process_exec",
	  .tracepoint = "struct task_struct *, int, struct linux_binprm *" },
	{ .event = "exit", .function = "sched_process_exit",
	  .tracepoint = "struct task_struct *" },

	/* events_memory.c */
	{ .event = "map", .function = "mmap_region", .returned = "unsigned long",
	  .arg = { NUMBER("LENGTH", "len") } },
	{ .event = "map_brk", .function = "do_brk_flags", .returned = "int",
	  .arg = { NUMBER("ADDRESS", "addr"), NUMBER("LENGTH", "len") } },
	{ .event = "map_stack", .function = "expand_downwards",
	  .returned = "int", .arg = { VMA } },
	{ .event = "map_special", .function = "_install_special_mapping",
	  .returned = "struct vm_area_struct *" },
	{ .event = "map_special", .function = "__install_special_mapping",
	  .returned = "struct vm_area_struct *" },
	{ .event = "map_extension", .function = "vm_stat_account",
	  .arg = { MM, { "PAGES", "long", NULL, false } } },
	{ .event = "unmap", .function = "unmap_vmas",
	  .arg = { VMA, NUMBER("ADDRESS", "start_addr|start"), NUMBER("END", "end_addr|end") } },
	{ .event = "remap", .id = "move_page_tables_part", .function = "move_page_tables.part.0",
	  .arg = { MOVE } },
	{ .event = "remap", .function = "move_page_tables",
	  .arg = { MOVE } },
	{ .event = "remap_rest", .function = "move_vma", .returned = "unsigned long",
	  .arg = { NUMBER("ADDRESS", "old_addr"), NUMBER("LENGTH", "old_len"),
		   NUMBER("TO_LENGTH", "new_len") } },
	{ .event = "brk", .function = "__x64_sys_brk", .returned = "long" },
	{ .event = "brk_32", .config = "IA32_EMULATION", .function = "__ia32_sys_brk",
	  .returned = "long" },
	{ .event = "shm_detach", .function = "shm_close", .arg = { VMA } },
	{ .event = "space_end", .function = "exit_mmap", .arg = { MM } },
	{ .event = "space_duplicate", .function = "uprobe_dup_mmap",
	  .arg = { { "MM", "struct mm_struct *", "oldmm", false },
		   { "CHILD", "struct mm_struct *", "newmm", false } } },

	/* events_range.c */
	{ .event = "mprotect", .function = "mprotect_fixup", .returned = "int",
	  .arg = { VMA, NUMBER("ADDRESS", "start"), NUMBER("END", "end") } },
	{ .event = "discard", .function = "zap_page_range_single",
	  .arg = { VMA, NUMBER("ADDRESS", "address"), NUMBER("LENGTH", "size"),
		   { "DETAILS", "struct zap_details *", NULL, false } } },
	{ .event = "discard_all", .config = "", .function = "zap_page_range",
	  .arg = { VMA, NUMBER("ADDRESS", "start"), NUMBER("LENGTH", "size") } },
	{ .event = "discard_hugetlb", .config = "HUGETLB_PAGE", .function = "unmap_hugepage_range",
	  .arg = { VMA, NUMBER("ADDRESS", "start"), NUMBER("END", "end") } },

	/* events_cow.c */
	{ .event = "cow_break", .function = "do_wp_page",
	  .returned = "unsigned int", .arg = { VMF } },
	{ .event = "cow_break_first", .function = "finish_fault", .returned = "unsigned int",
	  .arg = { VMF } },
	{ .event = "cow_break_huge", .config = "TRANSPARENT_HUGEPAGE",
	  .function = "do_huge_pmd_wp_page", .returned = "unsigned int",
	  .arg = { VMF } },
	{ .event = "cow_break_huge", .config = "TRANSPARENT_HUGEPAGE",
	  .id = "do_huge_pmd_wp_page_entry", .function = "do_huge_pmd_wp_page",
	  .returned = "unsigned int", .arg = { VMF, { "ENTRY", "pmd_t", NULL, false } } },
	{ .event = "cow_break_hugetlb", .config = "HUGETLB_PAGE",
	  .id = "hugetlb_wp_fault", .function = "hugetlb_wp",
	  .returned = "unsigned int", .arg = { VMF } },
	{ .event = "cow_break_hugetlb", .config = "HUGETLB_PAGE", .function = "hugetlb_wp",
	  .returned = "unsigned int",
	  .arg = { VMA, ADDRESS, PTE } },
	{ .event = "cow_break_hugetlb", .config = "HUGETLB_PAGE", .function = "hugetlb_cow",
	  .returned = "unsigned int",
	  .arg = { VMA, ADDRESS, PTE } },

	/* events_own.c */
	{ .event = "page_own", .function = "folio_add_new_anon_rmap",
	  .arg = { PAGE, VMA, ADDRESS, { "FLAGS", "rmap_t", NULL, true } } },
	{ .event = "page_own", .function = "page_add_new_anon_rmap",
	  .arg = { PAGE, VMA, ADDRESS } },
	{ .event = "page_own_hugetlb", .config = "HUGETLB_PAGE",
	  .function = "hugetlb_add_new_anon_rmap",
	  .arg = { PAGE, VMA, ADDRESS } },
	{ .event = "page_own_hugetlb", .config = "HUGETLB_PAGE",
	  .function = "hugepage_add_new_anon_rmap",
	  .arg = { PAGE, VMA, ADDRESS } },

	/* events_huge.c */
	{ .event = "huge_zero", .config = "TRANSPARENT_HUGEPAGE",
	  .function = "do_huge_pmd_anonymous_page", .returned = "unsigned int",
	  .arg = { VMF } },
	{ .event = "huge_file", .config = "TRANSPARENT_HUGEPAGE", .function = "do_set_pmd",
	  .returned = "unsigned int", .arg = { VMF } },
	{ .event = "huge_file", .config = "TRANSPARENT_HUGEPAGE", .function = "alloc_set_pte",
	  .returned = "unsigned int",
	  .arg = { VMF, { "PAGE", "struct page *", NULL, false } } },
	{ .event = "huge_split", .config = "TRANSPARENT_HUGEPAGE",
	  .function = "split_huge_pmd_locked",
	  .arg = { VMA, ADDRESS, PMD } },
	{ .event = "huge_split", .config = "TRANSPARENT_HUGEPAGE", .function = "__split_huge_pmd",
	  .arg = { VMA, ADDRESS, PMD } },

	/* events_swap.c */
	{ .event = "swap_out", .function = "try_to_unmap_one", .returned = "bool",
	  .arg = { PAGE, VMA, ADDRESS, { "CONTEXT", "void *", NULL, false } } },
	{ .event = "swap_in", .function = "do_swap_page",
	  .returned = "unsigned int", .arg = { VMF } },
	{ .event = "swap_out_shmem", .config = "SHMEM SWAP", .function = "shmem_writepage",
	  .returned = "int",
	  .arg = { PAGE } },

	/* events_cache.c */
	{ .event = "cache_add", .function = "mm_filemap_add_to_page_cache", .tracepoint = PAGES },
	{ .event = "cache_add_shmem", .function = "shmem_add_to_page_cache", .returned = "int",
	  .arg = { PAGE, { "EXPECTED", "void *", NULL, false } } },
	{ .event = "cache_remove", .function = "mm_filemap_delete_from_page_cache",
	  .tracepoint = PAGES },
	{ .event = "cache_migrate", .config = "MIGRATION", .function = "__folio_migrate_mapping",
	  .returned = "int",
	  .arg = { MIGRATION } },
	{ .event = "cache_migrate", .config = "MIGRATION", .function = "folio_migrate_mapping",
	  .returned = "int",
	  .arg = { MIGRATION } },
	{ .event = "cache_migrate", .config = "MIGRATION", .function = "migrate_page_move_mapping",
	  .returned = "int",
	  .arg = { MIGRATION } },

	/* events_pipe.c */
	{ .event = "pass_give", .function = "pipe_write", .returned = "ssize_t",
	  .arg = { { "REQUEST", "struct kiocb *", NULL, false },
		   { "DATA", "struct iov_iter *", NULL, false } } },
	{ .event = "pass_take", .function = "pipe_read", .returned = "ssize_t",
	  .arg = { { "REQUEST", "struct kiocb *", NULL, false } } },

	/* events_reclaim.c */
	{ .event = "reclaim", .choice = "reclaim", .function = "__remove_mapping", .returned = "int",
	  .arg = { PAGE, { "RECLAIMED", "bool", NULL, false },
		   { "TARGET", "struct mem_cgroup *", NULL, false } } },
	{ .event = "reclaim_batch", .choice = "reclaim", .function = "shrink_folio_list",
	  .returned = "unsigned int", .arg = { LIST, CONTROL } },
	{ .event = "reclaim_batch", .choice = "reclaim", .function = "shrink_page_list",
	  .returned = "unsigned int", .arg = { LIST, CONTROL } },
	{ .event = "reclaim_lazy", .choice = "reclaim", .function = "free_unref_folios",
	  .arg = { { "BATCH", "struct folio_batch *", NULL, false } } },
	{ .event = "reclaim_lazy", .choice = "reclaim", .function = "free_unref_page_list",
	  .arg = { LIST } },
	{ .event = "reclaim_lazy_huge", .choice = "reclaim", .config = "",
	  .function = "free_transhuge_page", .arg = { PAGE } },
	{ .event = "reclaim_write", .choice = "reclaim", .function = "mm_vmscan_write_folio",
	  .tracepoint = PAGES },
	{ .event = "reclaim_write", .choice = "reclaim", .function = "mm_vmscan_writepage",
	  .tracepoint = PAGES },
	{ .event = "refault", .choice = "reclaim", .function = "workingset_refault", .arg = { PAGE } },

	/* events_lru.c */
	{ .event = "scan", .choice = "reclaim", .function = "isolate_lru_folios",
	  .returned = "unsigned long", .arg = { ISOLATION } },
	{ .event = "scan", .choice = "reclaim", .function = "isolate_lru_pages",
	  .returned = "unsigned long", .arg = { ISOLATION } },
	{ .event = "scan_generation", .choice = "reclaim", .config = "LRU_GEN",
	  .function = "isolate_folios", .returned = "int",
	  .arg = { LRUVEC, LIST, CONTROL, { "TYPE", "int *", NULL, false } } },
	{ .event = "activate", .choice = "reclaim", .function = "mm_lru_activate",
	  .tracepoint = PAGES },
	{ .event = "deactivate_batch", .choice = "reclaim", .function = "shrink_active_list" },
	{ .event = "deactivate", .choice = "reclaim", .config = "",
	  .function = "move_folios_to_lru", .arg = { LIST } },
	{ .event = "age", .choice = "reclaim", .config = "LRU_GEN",
	  .function = "try_to_inc_max_seq", .returned = "bool",
	  .arg = { LRUVEC } },
	{ .event = "deactivate_asked", .choice = "reclaim", .function = "lru_deactivate",
	  .arg = { PAGE } },
	{ .event = "deactivate_asked", .choice = "reclaim", .function = "lru_deactivate_fn",
	  .arg = { PAGE } },
	{ .event = "deactivate_file", .choice = "reclaim", .function = "lru_deactivate_file",
	  .arg = { PAGE } },
	{ .event = "deactivate_file", .choice = "reclaim", .function = "lru_deactivate_file_fn",
	  .arg = { PAGE } },

	/* events_write.c */
	{ .event = "write_back_begin", .choice = "reclaim", .function = "__folio_start_writeback",
	  .arg = { PAGE } },
	{ .event = "write_back_begin", .choice = "reclaim", .function = "__test_set_page_writeback",
	  .arg = { PAGE } },
	{ .event = "write_back_end", .choice = "reclaim", .function = "__folio_end_writeback",
	  .arg = { PAGE } },
	{ .event = "write_back_end", .choice = "reclaim", .function = "test_clear_page_writeback",
	  .arg = { PAGE } },

	/* events_place.c */
	{ .event = "place_new", .choice = "lists", .function = "mm_lru_insertion", .tracepoint = PAGES },
	{ .event = "place_new", .choice = "lists", .id = "mm_lru_insertion_list",
	  .function = "mm_lru_insertion", .tracepoint = "struct page *, int" },
	{ .event = "place_lazy", .choice = "lists", .function = "lru_lazyfree", .arg = { PAGE } },
	{ .event = "place_lazy", .choice = "lists", .function = "lru_lazyfree_fn",
	  .arg = { PAGE } },
	{ .event = "place_last", .choice = "lists", .function = "lru_move_tail", .arg = { PAGE } },
	{ .event = "place_last", .choice = "lists", .function = "lru_move_tail_fn",
	  .arg = { PAGE } },
	{ .event = "place_last", .choice = "lists", .function = "pagevec_move_tail_fn",
	  .arg = { PAGE } },
	{ .event = "place_used", .choice = "lists", .config = "LRU_GEN",
	  .function = "folio_update_gen", .returned = "int", .arg = { PAGE } },
	{ .event = "place_kept", .choice = "lists", .config = "LRU_GEN",
	  .function = "folio_inc_gen", .returned = "int", .arg = { PAGE } },

	/* events_swap_io.c */
	{ .event = "swap_write", .choice = "reclaim", .function = "__swap_writepage",
	  .arg = { PAGE } },
	{ .event = "swap_read", .choice = "reclaim", .function = "swap_read_folio",
	  .arg = { PAGE } },
	{ .event = "swap_read", .choice = "reclaim", .function = "swap_readpage", .arg = { PAGE } },

	/* events_fault.c */
	{ .event = "fault", .choice = "reclaim", .function = "handle_mm_fault",
	  .returned = "unsigned int",
	  .arg = { VMA, ADDRESS, { "FAULT_FLAGS", "unsigned int", NULL, false } } },

	/* events_pressure.c */
	{ .event = "kswapd_wake", .choice = "reclaim", .function = "mm_vmscan_kswapd_wake",
	  .tracepoint = "int, int, int" },
	{ .event = "watermark", .choice = "reclaim", .function = "mm_vmscan_wakeup_kswapd",
	  .tracepoint = "int, int, int, gfp_t" },
	{ .event = "kswapd_sleep", .choice = "reclaim", .function = "mm_vmscan_kswapd_sleep",
	  .tracepoint = "int" },
	{ .event = "direct_begin", .choice = "reclaim", .function = "mm_vmscan_direct_reclaim_begin",
	  .tracepoint = "int, gfp_t" },
	{ .event = "direct_end", .choice = "reclaim", .function = "mm_vmscan_direct_reclaim_end",
	  .tracepoint = "unsigned long" },
	{ .event = "oom_kill", .choice = "reclaim", .function = "__oom_kill_process",
	  .arg = { { "TASK", "struct task_struct *", NULL, false } } },
	{ .event = "stall_begin", .choice = "reclaim", .config = "PSI", .function = "psi_memstall_enter" },
	{ .event = "stall_end", .choice = "reclaim", .config = "PSI", .function = "psi_memstall_leave",
	  .arg = { { "FLAGS", "unsigned long *", NULL, false } } },

	/* events_syscall.c */
	{ .event = "syscall_enter", .function = "sys_enter",
	  .tracepoint = "struct pt_regs *, long" },
	{ .event = "syscall_exit", .function = "sys_exit",
	  .tracepoint = "struct pt_regs *, long" },
};

#undef PAGES
#undef PAGE
#undef LIST
#undef LRUVEC
#undef CONTROL
#undef ISOLATION
#undef PTE
#undef PMD
#undef MIGRATION
#undef MOVE
#undef VMA
#undef VMF
#undef MM
#undef ADDRESS
#undef NUMBER

/*
 * A structure's member that the module reads: it is in the kernel with this type (NULL is any),
 * and members.c sees that it is where the headers have it.  Of several structures, separated by
 * bars, the first that there is.  Of an optional member, LPL_HAS_STRUCTURE_MEMBER says whether it is.
 * What is private to a file of the kernel is in no header: LPL_OFFSET_STRUCTURE_MEMBER has its place.
 */
struct place_member {
	const char *structure;
	const char *member;
	const char *type;
	bool optional;
	bool private;
};

static const struct place_member place_members[] = {
	{ "task_struct", "pid", "int", false, false },
	{ "task_struct", "tgid", "int", false, false },
	{ "task_struct", "comm", NULL, false, false },
	{ "task_struct", "mm", "struct mm_struct *", false, false },
	{ "task_struct", "signal", "struct signal_struct *", false, false },
	{ "task_struct", "exit_code", "int", false, false },
	{ "task_struct", "exit_state", "int", false, false },
	{ "task_struct", "flags", "unsigned int", false, false },
	{ "task_struct", "__state", "unsigned int", true, false },
	{ "task_struct", "reclaim_state", "struct reclaim_state *", false, false },
	{ "signal_struct", "live", "atomic_t", false, false },
	{ "linux_binprm", "file", "struct file *", false, false },
	{ "linux_binprm", "interp", "char *", false, false },

	{ "mm_struct", "pgd", "pgd_t *", false, false },
	{ "mm_struct", "map_count", "int", false, false },
	{ "mm_struct", "mm_users", "atomic_t", false, false },
	{ "mm_struct", "start_brk", "unsigned long", false, false },
	{ "mm_struct", "brk", "unsigned long", false, false },
	{ "vm_area_struct", "vm_start", "unsigned long", false, false },
	{ "vm_area_struct", "vm_end", "unsigned long", false, false },
	{ "vm_area_struct", "vm_mm", "struct mm_struct *", false, false },
	{ "vm_area_struct", "vm_flags", "unsigned long", false, false },
	{ "vm_area_struct", "vm_pgoff", "unsigned long", false, false },
	{ "vm_area_struct", "vm_file", "struct file *", false, false },
	{ "vm_area_struct", "vm_ops", "struct vm_operations_struct *", false, false },
	{ "vm_area_struct", "anon_vma", "struct anon_vma *", false, false },
	{ "vm_operations_struct", "name", NULL, false, false },

	{ "vm_fault", "vma", "struct vm_area_struct *", false, false },
	{ "vm_fault", "address", "unsigned long", false, false },
	{ "vm_fault", "flags", "enum fault_flag|unsigned int", false, false },
	{ "vm_fault", "pmd", "pmd_t *", false, false },
	{ "vm_fault", "pte", "pte_t *", false, false },
	{ "vm_fault", "orig_pte", "pte_t", false, false },
	{ "vm_fault", "orig_pmd", "pmd_t", true, false },
	{ "vm_fault", "page", "struct page *", false, false },
	{ "vm_fault", "cow_page", "struct page *", false, false },
	{ "zap_details", "even_cows", "bool", true, false },
	{ "zap_details", "check_mapping", "struct address_space *", true, false },

	{ "folio|page", "flags", "unsigned long", false, false },
	{ "folio|page", "mapping", "struct address_space *", false, false },
	{ "folio|page", "index", "unsigned long", false, false },
	{ "folio|page", "memcg_data", "unsigned long", true, false },
	{ "address_space", "host", "struct inode *", false, false },
	{ "address_space", "nrpages", "unsigned long", false, false },
	{ "address_space", "i_pages", "struct xarray", false, false },
	{ "kiocb", "ki_filp", "struct file *", false, false },
	{ "iov_iter", "count", "size_t", false, false },
	{ "file", "f_mapping", "struct address_space *", false, false },
	{ "file", "f_path", "struct path", false, false },
	{ "path", "dentry", "struct dentry *", false, false },
	{ "dentry", "d_name", "struct qstr", false, false },
	{ "dentry", "d_sb", "struct super_block *", false, false },
	{ "inode", "i_mode", "umode_t", false, false },
	{ "inode", "i_ino", "unsigned long", false, false },
	{ "inode", "i_rdev", "dev_t", false, false },
	{ "inode", "i_sb", "struct super_block *", false, false },
	{ "inode", "i_flags", "unsigned int", false, false },
	{ "inode", "i_generation", NULL, false, false },
	{ "inode", "i_mapping", "struct address_space *", false, false },
	{ "inode", "i_data", "struct address_space", false, false },
	{ "inode", "i_dentry", "struct hlist_head", false, false },
	{ "inode", "i_sb_list", "struct list_head", false, false },
	{ "super_block", "s_dev", "dev_t", false, false },
	{ "super_block", "s_magic", "unsigned long", false, false },
	{ "super_block", "s_inodes", "struct list_head", false, false },

	{ "pglist_data", "per_cpu_nodestats", "struct per_cpu_nodestat *", false, false },
	{ "per_cpu_nodestat", "vm_node_stat_diff", NULL, false, false },
	{ "lruvec", "lrugen", NULL, true, false },
	{ "mem_cgroup_per_node", "lruvec", "struct lruvec", true, false },
	{ "pglist_data", "__lruvec", "struct lruvec", false, false },
	{ "pglist_data", "node_zones", NULL, false, false },
	{ "zone", "_watermark", NULL, false, false },
	{ "zone", "watermark_boost", "unsigned long", false, false },
	{ "zone", "vm_stat", NULL, false, false },
	{ "vm_event_state", "event", NULL, false, false },
	{ "scan_control", "target_mem_cgroup", "struct mem_cgroup *", false, true },
};

#endif
