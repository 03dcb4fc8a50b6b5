# SPDX-License-Identifier: GPL-2.0-only

LINT_SOURCES ?= /usr/src
LINT := PYTHONPYCACHEPREFIX=$(B)/lint/pycache tests/lint

.PHONY: lint lint-selftest

lint:
	$(LINT)/lint.py --build $(B) --sources $(LINT_SOURCES) \
		--programs "$(PROGRAMS)" --man-pages "$(MAN_PAGES)"

# Every rule, on a sample that breaks it.
lint-selftest:
	$(LINT)/selftest.py --build $(B) --sources $(LINT_SOURCES)

.PHONY: lint-deep

# Minutes to an hour: the kernel after every patch.
lint-deep:
	$(LINT)/deep.py --build $(B) --sources $(LINT_SOURCES) \
		$(if $(JOBS),--jobs $(JOBS)) $(if $(QUICK),--quick)
