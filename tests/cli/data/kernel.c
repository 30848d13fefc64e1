/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As much of a kernel as linux-module/find-places looks for, in the form that Linux 6.12 has it.
 * Compiled with -gbtf it describes itself as a kernel does; find-places.case changes its lines.
 */
typedef _Bool bool;
typedef unsigned int vm_fault_t, dev_t, gfp_t;
typedef int pid_t, rmap_t;
typedef unsigned short umode_t;
typedef unsigned long vm_flags_t, size_t;
typedef long ssize_t;
typedef struct { int counter; } atomic_t;
typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pmd; } pmd_t;
typedef struct { unsigned long pte; } pte_t;

enum fault_flag { FAULT_FLAG_WRITE = 1 };
enum ttu_flags { TTU_SYNC = 16 };
enum lru_list { LRU_INACTIVE_ANON };

struct list_head { struct list_head *next, *prev; };
struct hlist_head { void *first; };
struct xarray { void *xa_head; };
struct qstr { unsigned long hash_len; const unsigned char *name; };
struct anon_vma { int a; };
struct mem_cgroup { int a; };
struct reclaim_state { int a; };
struct reclaim_stat { int a; };
struct folio_batch { unsigned char nr; struct folio *folios[31]; };
struct per_cpu_nodestat { signed char vm_node_stat_diff[40]; };
struct scan_control { unsigned long nr_to_reclaim; void *nodemask; struct mem_cgroup *target_mem_cgroup; };
struct lru_gen_folio { unsigned long max_seq; };
struct lruvec { struct list_head lists[5]; struct lru_gen_folio lrugen; };
struct mem_cgroup_per_node { struct mem_cgroup *memcg; struct lruvec lruvec; };
struct vm_event_state { unsigned long event[100]; };
struct zone { unsigned long _watermark[4]; unsigned long watermark_boost; unsigned long vm_stat[10]; };
struct pglist_data { struct zone node_zones[4]; struct per_cpu_nodestat *per_cpu_nodestats; struct lruvec __lruvec; };
struct swap_iocb { int a; };
struct mmu_gather { int a; };
struct ma_state { int a; };
struct vma_iterator { int a; };
struct pt_regs { int a; };
struct writeback_control { int a; };
struct vm_special_mapping { int a; };
struct vm_area_struct;
struct file;

struct super_block { dev_t s_dev; unsigned long s_magic; struct list_head s_inodes; };
struct address_space {
	struct inode *host;
	struct xarray i_pages;
	unsigned long nrpages;
};
struct inode {
	umode_t i_mode;
	unsigned int i_flags;
	struct super_block *i_sb;
	struct address_space *i_mapping;
	unsigned long i_ino;
	dev_t i_rdev;
	unsigned int i_generation;
	struct list_head i_sb_list;
	union { struct hlist_head i_dentry; };
	struct address_space i_data;
};
struct dentry { struct qstr d_name; struct super_block *d_sb; };
struct path { void *mnt; struct dentry *dentry; };
struct file { struct address_space *f_mapping; struct path f_path; };
struct kiocb { struct file *ki_filp; };
struct iov_iter { union { struct { void *p; size_t count; }; }; };
struct page { unsigned long flags; };
struct folio {
	union {
		struct {
			unsigned long flags;
			struct address_space *mapping;
			unsigned long index;
		};
		struct page page;
	};
};
struct mm_struct {
	struct {
		pgd_t *pgd;
		atomic_t mm_users;
		int map_count;
		unsigned long start_brk, brk;
	};
};
struct vm_operations_struct { const char *(*name)(struct vm_area_struct *vma); };
struct vm_area_struct {
	union {
		struct { unsigned long vm_start, vm_end; };
	};
	struct mm_struct *vm_mm;
	union { const vm_flags_t vm_flags; };
	struct anon_vma *anon_vma;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
};
struct vm_fault {
	const struct {
		struct vm_area_struct *vma;
		unsigned long address;
	};
	enum fault_flag flags;
	pmd_t *pmd;
	union { pte_t orig_pte; pmd_t orig_pmd; };
	struct page *cow_page, *page;
	pte_t *pte;
};
struct zap_details { struct folio *single_folio; bool even_cows; };
struct signal_struct { atomic_t live; };
struct task_struct {
	unsigned int __state, flags;
	int exit_state, exit_code;
	struct mm_struct *mm;
	pid_t pid, tgid;
	char comm[16];
	struct signal_struct *signal;
	struct reclaim_state *reclaim_state;
};
struct linux_binprm { struct file *file; const char *interp; };

/* what may be attached to tracepoints */
typedef void (*btf_trace_task_newtask)(void *, struct task_struct *, unsigned long);
typedef void (*btf_trace_sched_process_fork)(void *, struct task_struct *, struct task_struct *);
typedef void (*btf_trace_sched_switch)(void *, bool, struct task_struct *, struct task_struct *, unsigned int);
typedef void (*btf_trace_sched_waking)(void *, struct task_struct *);
typedef void (*btf_trace_sched_process_exec)(void *, struct task_struct *, pid_t, struct linux_binprm *);
typedef void (*btf_trace_sched_process_exit)(void *, struct task_struct *);
typedef void (*btf_trace_mm_filemap_add_to_page_cache)(void *, struct folio *);
typedef void (*btf_trace_mm_filemap_delete_from_page_cache)(void *, struct folio *);
typedef void (*btf_trace_mm_vmscan_write_folio)(void *, struct folio *);
typedef void (*btf_trace_mm_lru_activate)(void *, struct folio *);
typedef void (*btf_trace_mm_lru_insertion)(void *, struct folio *);
typedef void (*btf_trace_mm_vmscan_wakeup_kswapd)(void *, int, int, int, gfp_t);
typedef void (*btf_trace_mm_vmscan_kswapd_wake)(void *, int, int, int);
typedef void (*btf_trace_mm_vmscan_kswapd_sleep)(void *, int);
typedef void (*btf_trace_mm_vmscan_direct_reclaim_begin)(void *, int, gfp_t);
typedef void (*btf_trace_mm_vmscan_direct_reclaim_end)(void *, unsigned long);
typedef void (*btf_trace_sys_enter)(void *, struct pt_regs *, long);
typedef void (*btf_trace_sys_exit)(void *, struct pt_regs *, long);
struct tracepoints {
	btf_trace_task_newtask a;
	btf_trace_sched_process_fork b;
	btf_trace_sched_switch c;
	btf_trace_sched_process_exec d;
	btf_trace_sched_process_exit e;
	btf_trace_mm_filemap_add_to_page_cache f;
	btf_trace_mm_filemap_delete_from_page_cache g;
	btf_trace_sys_enter h;
	btf_trace_sys_exit i;
	btf_trace_sched_waking j;
	btf_trace_mm_vmscan_write_folio k;
	btf_trace_mm_lru_activate l;
	btf_trace_mm_vmscan_kswapd_wake m;
	btf_trace_mm_vmscan_kswapd_sleep n;
	btf_trace_mm_vmscan_direct_reclaim_begin o;
	btf_trace_mm_vmscan_direct_reclaim_end p;
	btf_trace_mm_lru_insertion q;
	btf_trace_mm_vmscan_wakeup_kswapd r;
} tracepoints;

/* structures that no function below names */
struct { struct zap_details *a; struct inode *b; struct linux_binprm *c; struct task_struct *d; struct vm_event_state *e; struct mem_cgroup_per_node *f; } used;

/* found by their names in this file: a function is a line */
void membarrier_exec_mmap(struct mm_struct *mm) { }
int set_mm_exe_file(struct mm_struct *mm, struct file *new_exe_file) { return 0; }
unsigned long mmap_region(struct file *file, unsigned long addr, unsigned long len, vm_flags_t vm_flags, unsigned long pgoff, struct list_head *uf) { return 0; }
int do_brk_flags(struct vma_iterator *vmi, struct vm_area_struct *vma, unsigned long addr, unsigned long len, unsigned long flags) { return 0; }
int expand_downwards(struct vm_area_struct *vma, unsigned long address) { return 0; }
struct vm_area_struct *_install_special_mapping(struct mm_struct *mm, unsigned long addr, unsigned long len, unsigned long vm_flags, const struct vm_special_mapping *spec) { return 0; }
void vm_stat_account(struct mm_struct *mm, vm_flags_t flags, long npages) { }
void unmap_vmas(struct mmu_gather *tlb, struct ma_state *mas, struct vm_area_struct *vma, unsigned long start_addr, unsigned long end_addr, unsigned long tree_end, bool mm_wr_locked) { }
unsigned long move_page_tables(struct vm_area_struct *vma, unsigned long old_addr, struct vm_area_struct *new_vma, unsigned long new_addr, unsigned long len, bool need_rmap_locks, bool for_stack) { return 0; }
unsigned long move_vma(struct vm_area_struct *vma, unsigned long old_addr, unsigned long old_len, unsigned long new_len, unsigned long new_addr, bool *locked) { return 0; }
long __x64_sys_brk(const struct pt_regs *regs) { return 0; }
long __ia32_sys_brk(const struct pt_regs *regs) { return 0; }
void shm_close(struct vm_area_struct *vma) { }
void exit_mmap(struct mm_struct *mm) { }
void uprobe_dup_mmap(struct mm_struct *oldmm, struct mm_struct *newmm) { }
int mprotect_fixup(struct vma_iterator *vmi, struct mmu_gather *tlb, struct vm_area_struct *vma, struct vm_area_struct **pprev, unsigned long start, unsigned long end, unsigned long newflags) { return 0; }
void zap_page_range_single(struct vm_area_struct *vma, unsigned long address, unsigned long size, struct zap_details *details) { }
void unmap_hugepage_range(struct vm_area_struct *vma, unsigned long start, unsigned long end, struct page *ref_page, unsigned int zap_flags) { }
vm_fault_t do_wp_page(struct vm_fault *vmf) { return 0; }
vm_fault_t finish_fault(struct vm_fault *vmf) { return 0; }
vm_fault_t do_huge_pmd_wp_page(struct vm_fault *vmf) { return 0; }
vm_fault_t hugetlb_wp(struct vm_fault *vmf) { return 0; }
void folio_add_new_anon_rmap(struct folio *folio, struct vm_area_struct *vma, unsigned long address, rmap_t flags) { }
void hugetlb_add_new_anon_rmap(struct folio *folio, struct vm_area_struct *vma, unsigned long address) { }
vm_fault_t do_huge_pmd_anonymous_page(struct vm_fault *vmf) { return 0; }
vm_fault_t do_set_pmd(struct vm_fault *vmf, struct page *page) { return 0; }
void split_huge_pmd_locked(struct vm_area_struct *vma, unsigned long address, pmd_t *pmd, bool freeze, struct folio *folio) { }
void __split_huge_pmd(struct vm_area_struct *vma, pmd_t *pmd, unsigned long address, bool freeze, struct folio *folio) { }
bool try_to_unmap_one(struct folio *folio, struct vm_area_struct *vma, unsigned long address, void *arg) { return 0; }
vm_fault_t do_swap_page(struct vm_fault *vmf) { return 0; }
int shmem_writepage(struct page *page, struct writeback_control *wbc) { return 0; }
int shmem_add_to_page_cache(struct folio *folio, struct address_space *mapping, unsigned long index, void *expected, unsigned int gfp) { return 0; }
int __folio_migrate_mapping(struct address_space *mapping, struct folio *newfolio, struct folio *folio, int expected_count) { return 0; }
int __remove_mapping(struct address_space *mapping, struct folio *folio, bool reclaimed, struct mem_cgroup *target_memcg) { return 0; }
unsigned int shrink_folio_list(struct list_head *folio_list, struct pglist_data *pgdat, struct scan_control *sc, struct reclaim_stat *stat, bool ignore_references) { return 0; }
void free_unref_folios(struct folio_batch *folios) { }
void workingset_refault(struct folio *folio, void *shadow) { }
unsigned long isolate_lru_folios(unsigned long nr_to_scan, struct lruvec *lruvec, struct list_head *dst, unsigned long *nr_scanned, struct scan_control *sc, enum lru_list lru) { return 0; }
int isolate_folios(struct lruvec *lruvec, struct scan_control *sc, int swappiness, int *type_scanned, struct list_head *list) { return 0; }
void shrink_active_list(unsigned long nr_to_scan, struct lruvec *lruvec, struct scan_control *sc, enum lru_list lru) { }
unsigned int move_folios_to_lru(struct lruvec *lruvec, struct list_head *list) { return 0; }
bool try_to_inc_max_seq(struct lruvec *lruvec, unsigned long seq, bool can_swap, bool force_scan) { return 0; }
void lru_deactivate(struct lruvec *lruvec, struct folio *folio) { }
void lru_deactivate_file(struct lruvec *lruvec, struct folio *folio) { }
void lru_lazyfree(struct lruvec *lruvec, struct folio *folio) { }
void lru_move_tail(struct lruvec *lruvec, struct folio *folio) { }
int folio_update_gen(struct folio *folio, int gen) { return 0; }
int folio_inc_gen(struct lruvec *lruvec, struct folio *folio, bool reclaiming) { return 0; }
void __folio_start_writeback(struct folio *folio, bool keep_write) { }
bool __folio_end_writeback(struct folio *folio) { return 0; }
void __swap_writepage(struct folio *folio, struct writeback_control *wbc) { }
void swap_read_folio(struct folio *folio, struct swap_iocb **plug) { }
vm_fault_t handle_mm_fault(struct vm_area_struct *vma, unsigned long address, unsigned int flags, struct pt_regs *regs) { return 0; }
void __oom_kill_process(struct task_struct *victim, const char *message) { }
void psi_memstall_enter(unsigned long *flags) { }
void psi_memstall_leave(unsigned long *flags) { }
ssize_t pipe_write(struct kiocb *iocb, struct iov_iter *from) { return 0; }
ssize_t pipe_read(struct kiocb *iocb, struct iov_iter *to) { return 0; }

const char linux_banner[] = "Linux version 6.12.117 (user@host) (gcc, ld) #1 SMP PREEMPT_DYNAMIC test\n";
