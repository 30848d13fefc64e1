# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian 13's own kernel: a later one of that series, which has another form of hugetlb_wp.
# shellcheck source=tests/guest/suite.sh
. "$GUEST/suite.sh"
suite_kernel trixie 6.12
