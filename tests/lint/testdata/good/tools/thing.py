#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
import sys

sys.exit(0)
