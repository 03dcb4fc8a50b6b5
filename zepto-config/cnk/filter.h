/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_FILTER_H
#define CNK_FILTER_H

/* Installs the filter for this process; the listener, or -errno. */
int cnk_install_filter(void);

#endif
