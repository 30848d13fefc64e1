# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian 11's kernel, the oldest that the module is for: pages instead of folios, mappings in a list.
# shellcheck source=tests/guest/suite.sh
. "$GUEST/suite.sh"
suite_kernel bullseye 5.10
