# SPDX-License-Identifier: GPL-2.0-only

LINT_SOURCES ?= /usr/src
LINT := PYTHONPYCACHEPREFIX=$(B)/lint/pycache tests/lint

.PHONY: lint lint-selftest

# clang-tidy reads the sources, which include a generated header.
lint: $(tools_LIST)
	$(LINT)/lint.py --build $(B) --sources $(LINT_SOURCES) \
		--programs "$(PROGRAMS)" --man-pages "$(MAN_PAGES)"

# Try every rule on a sample that breaks it.
lint-selftest:
	$(LINT)/selftest.py --build $(B) --sources $(LINT_SOURCES)
	$(LINT)/port_test.py --build $(B)
	$(LINT)/prepare_test.py --build $(B)

.PHONY: lint-deep port

# Build the kernel after every patch: minutes to an hour. All versions whose source is
# installed unless KERNEL is given.
lint-deep:
	$(LINT)/deep.py --build $(B) --sources $(LINT_SOURCES) \
		$(if $(JOBS),--jobs $(JOBS)) $(if $(QUICK),--quick) \
		$(if $(filter-out file,$(origin KERNEL)),$(KERNEL))

# Apply the queue nearest to VERSION, or that of QUEUE, to the source of Linux VERSION. WRITE=1 makes
# the queue of VERSION from it.
port:
	@$(if $(VERSION),,echo 'make port VERSION=x.y [QUEUE=x.y] [WRITE=1]' >&2; exit 2;) \
	$(LINT)/port.py --build $(B) --sources $(LINT_SOURCES) \
		$(if $(QUEUE),--queue $(QUEUE)) $(if $(WRITE),--write) $(VERSION)
