/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CNK_FILTER_H
#define CNK_FILTER_H

/* Install the filter for this process. Return: the listener, or -errno. */
int cnk_install_filter(void);

#endif
