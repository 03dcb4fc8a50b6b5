/* SPDX-License-Identifier: GPL-2.0-only */
/* Folders of recordings as arguments, such as the archive of ktau-land or one host in it. */
#ifndef KTAU_TOOLS_FOLDERS_H
#define KTAU_TOOLS_FOLDERS_H

/*
 * Replace each folder in @paths by its *.ktau files and those in folders in it, sorted by name,
 * which for files of ktaud is their order in time. A folder without any remains. *@paths and
 * *@nr_paths are set to an array that is valid until the next call. Return: 0 or -errno, with
 * nothing changed.
 */
int folders_expand(char ***paths, int *nr_paths);

#endif
