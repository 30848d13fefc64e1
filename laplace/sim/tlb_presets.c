/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TLBs of some processors, as their vendors describe them; docs/tlbs.md has what is left out. */
#include <laplace/tlb.h>

static const struct lpl_tlb_preset presets[] = {
	{ "skylake", "l1i=128/8/4K+8/full/2M:l1d=64/4/4K+32/4/2M+4/full/1G:l2=1536/12/4K/2M+16/4/1G",
	  "Intel 64 and IA-32 Architectures Optimization Reference Manual (248966), Skylake client "
	  "microarchitecture, \"Cache and Memory Subsystem\", table of TLB parameters" },
	{ "zen", "l1i=64/full:l1d=64/full:l2i=512/8/4K/2M:l2d=1536/12/4K/2M",
	  "Software Optimization Guide for AMD Family 17h Processors (55723), section 2.7" },
	{ "cortex-a72", "l1i=48/full/4K/64K/1M:l1d=32/full/4K/64K/1M:l2=1024/4",
	  "ARM Cortex-A72 MPCore Processor Technical Reference Manual (100095), section 5.2" },
};

const struct lpl_tlb_preset *lpl_tlb_presets(size_t *count)
{
	*count = sizeof(presets) / sizeof(presets[0]);
	return presets;
}
