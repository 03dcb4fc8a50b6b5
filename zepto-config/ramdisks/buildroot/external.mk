# SPDX-License-Identifier: GPL-2.0-only
include $(sort $(wildcard $(BR2_EXTERNAL_KTAU_PATH)/package/*/*.mk))
