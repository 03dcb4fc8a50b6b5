// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktau.h>

static int half(int value)
{
	return value / 2;
}

/**
 * ktau_quarter() - a fourth of a value
 * @value: what to divide
 *
 * Context: any.
 * Return: the fourth, rounded towards zero.
 */
int ktau_quarter(int value)
{
	return half(half(value));
}
