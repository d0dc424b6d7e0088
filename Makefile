# fast_copy: build, install and test with PGXS.
#
#   make && make install && make installcheck    against a running server
#   make unit | pgtap | differential | tap       one suite, same server
#   make check-quick                             after each change, in a minute or so
#   make check-quick TEST='where 004'            single tests, by name
#   make check-style                             rules no compiler knows
#   make docs                                    docs/reference.md, of what a server says, and a drawing
#   make html                                    the documentation as pages, by mkdocs
#   make indent                                  lays out changed files of C, by pgindent
#   make coverage                                which lines the tests reach, in coverage/
#   make install-plugin                          for local_preload_libraries
#   make dist                                    the release archive of HEAD
#   make release-check                           whether the tree is ready for a release
#   make publisher REPOSITORY=URL CONTACT=MAIL   who publishes it, see packaging/publisher
#   make LZ4=no                                  without a library, see libraries.mk
#
# test/run does all of this on a cluster of its own, and check-quick the most
# telling part, on one that it keeps (see test/quick).

PG_CONFIG ?= pg_config

EXTENSION = fast_copy
MODULE_big = fast_copy
# cluster/ is an extension of its own (see below).
OBJS = $(sort $(patsubst %.c,%.o,$(wildcard src/*.c src/*/*.c)))
# The script of this version is made (see below), those that update are written.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(EXTENSION).control)
DATA_built = sql/$(EXTENSION)--$(EXTVERSION).sql
DATA = $(sort $(filter-out $(DATA_built),$(wildcard sql/fast_copy--*.sql)))
PGFILEDESC = "fast_copy - partition-aware, parallel COPY"

# Each object notes the headers that it was made from (-MMD).  The last three
# warnings: PG headers and their macros (PG_FUNCTION_ARGS, foreach, {0})
# do not pass -Wextra without them.
# What knows nothing of the server (src/grammar) does not see that it checks assertions
ASSERTIONS = $(if $(findstring --enable-cassert,$(shell $(PG_CONFIG) --configure)),-DUSE_ASSERT_CHECKING=1)
PG_CPPFLAGS = -I$(srcdir)/src $(ASSERTIONS)
PG_CFLAGS = -MMD -MP -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-missing-field-initializers
# Before 16 all symbols are exported: without -Bsymbolic-functions each call from
# file to file goes through a table, which each worker fills by name.
SHLIB_LINK = -Wl,-Bsymbolic-functions $(LIBRARY_LINKS)

include $(or $(srcdir),$(dir $(firstword $(MAKEFILE_LIST))))/libraries.mk
PG_CPPFLAGS += $(LIBRARY_FLAGS)

# pg_regress 15 has no --expecteddir, so its inputs lie beside the install
# script and its expected output in expected/.
REGRESS = $(sort $(filter-out fast_copy--%,$(patsubst sql/%.sql,%,$(wildcard sql/*.sql))))
REGRESS_OPTS = --load-extension=fast_copy --encoding=UTF8 --no-locale --launcher=$(srcdir)/test/masked

EXTRA_CLEAN = $(OBJS:.o=.d) $(WING_OBJS) $(WING_OBJS:.o=.d) $(WING_LIBRARY) .libraries html html.in html.in.yml results regression.diffs regression.out tmp_check

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

-include $(OBJS:.o=.d)

# What sees the libraries is built again when another one has been found.
$(shell echo '$(LIBRARY_FLAGS)' | cmp -s - .libraries || echo '$(LIBRARY_FLAGS)' >.libraries)
LIBRARY_USERS = src/source/codec src/source/gunzip src/source/unzip src/io/uring
$(LIBRARY_USERS:=.o) $(LIBRARY_USERS:=.bc) $(shlib): .libraries

# Said last, because what is said before the compiler's lines is not seen
all: libraries
libraries: | $(shlib) $(if $(filter yes,$(LIBPQ)),fast_copy_cluster$(DLSUFFIX))
	$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,@echo 'fast_copy: with $(LIBRARIES_THERE)')
	$(foreach name,$(LIBRARIES_MISSING),@echo '$(call fc_missing,$(name))' >&2$(newline))

include $(srcdir)/cluster/cluster.mk

# The arguments of the functions are those of the list that C reads.
$(DATA_built): sql/fast_copy.sql.in sql/help.in src/options/list.h
	$(CPP) -x c -undef -P -Isrc $< >$@

# The documents keep their folders, so that their links lead somewhere: PGXS
# would put all of them into one.
DOC_DIR = $(docdir)/extension/$(EXTENSION)

install: install-documents
install-documents:
	$(MKDIR_P) '$(DESTDIR)$(DOC_DIR)/docs'
	$(INSTALL_DATA) $(addprefix $(srcdir)/,README.md SECURITY.md CHANGELOG.md LICENSE) '$(DESTDIR)$(DOC_DIR)/'
	$(INSTALL_DATA) $(wildcard $(srcdir)/docs/*.md $(srcdir)/docs/*.svg $(srcdir)/docs/*.json $(srcdir)/docs/*.yaml) '$(DESTDIR)$(DOC_DIR)/docs/'

uninstall: uninstall-documents
uninstall-documents:
	rm -rf '$(DESTDIR)$(DOC_DIR)'

# Where the suites below keep their files: the server must be able to read it.
TMP_DIR ?= $(or $(TMPDIR),/tmp)

.PHONY: libraries install-documents uninstall-documents install-plugin uninstall-plugin unit pgtap differential tap \
	check-quick check-style docs html indent coverage publisher dist release-check

unit:
	$(MAKE) -C test/unit check

pgtap:
	pg_prove --set data_dir='$(CURDIR)/test/data' --set tmp_dir='$(TMP_DIR)' \
		test/pgtap/*.sql

differential:
	test/differential '$(TMP_DIR)'

tap:
	PG_REGRESS='$(pgxsdir)/src/test/regress/pg_regress' \
	PATH="$(bindir):$$PATH" TESTDIR='$(TMP_DIR)' TESTDATADIR='$(TMP_DIR)' \
	TESTLOGDIR='$(TMP_DIR)/log' PG_TEST_TIMEOUT_DEFAULT=30 \
		prove -I '$(pgxsdir)/src/test/perl' -I test/t test/t/*.pl

check-quick:
	test/quick $(TEST)

check-style:
	test/style

# Puts others into the place of the addresses in packaging/publisher, wherever
# these are named; test/style finds where they are not.
PUBLISHER_FILES = META.json SECURITY.md debian/control.in debian/control debian/changelog \
	packaging/fast_copy.spec packaging/publisher .github/ISSUE_TEMPLATE/config.yml
publisher:
	$(if $(and $(REPOSITORY),$(CONTACT)),,$(error give REPOSITORY=https://... and CONTACT=NAME@...))
	set -- $$(grep -v '^#' packaging/publisher) && \
		sed -i -e "s|$$1|$(REPOSITORY)|g" -e "s|$$2|$(CONTACT)|g" $(PUBLISHER_FILES)

indent:
	PG_CONFIG='$(PG_CONFIG)' test/indent $(FILES)

coverage:
	test/coverage $(SUITES)

docs:
	PATH="$(bindir):$$PATH" test/docs/reference
	bench/chart README.md docs/benchmark.svg

# mkdocs wants all pages below one folder, with all that they link to, and one
# word after a fence, or it takes the code for text and what follows for code.
HTML_LINKED = $(wildcard $(sort $(shell sed -n 's/[^]]*](\.\.\/\([a-z][^)\#]*\)[^]]*/ \1/gp' docs/*.md)))
# The pages have the order and the tasks of docs/README.md.
HTML_NAV = -e 's/^\#\# \(.*\)/  - "\1":/p' -e 's/^| \[.*](\.\.\/\([^)]*\)).*/    - \1/p;t' -e 's/^| \[.*](\([^)]*\)).*/    - docs\/\1/p'
html:
	rm -rf html html.in html.in.yml
	mkdir html.in
	cp -r README.md SECURITY.md CHANGELOG.md LICENSE META.json docs packaging/print.css html.in/
	cp -r --parents $(HTML_LINKED) html.in/
	sed -i 's/^\(```[a-z]*\) .*/\1/' html.in/*.md html.in/docs/*.md
	{ cat mkdocs.yml; printf '%s\n' nav: '  - README.md' '  - docs/README.md'; sed -n $(HTML_NAV) docs/README.md; echo '  - CHANGELOG.md'; } >html.in.yml
	mkdocs build -q -f html.in.yml
	rm -rf html.in html.in.yml

# What lies in plugins may be loaded by any user, in any database, which is for
# whoever installs to decide (docs/security.md).  A link, because a session takes
# two files for two libraries.
plugin = $(DESTDIR)$(pkglibdir)/plugins/$(EXTENSION)$(DLSUFFIX)

install-plugin:
	$(MKDIR_P) '$(dir $(plugin))'
	ln -sf '../$(EXTENSION)$(DLSUFFIX)' '$(plugin)'

uninstall: uninstall-plugin

uninstall-plugin:
	rm -f '$(plugin)'

# PGXN wants a zip whose files lie below NAME-VERSION.
dist:
	git archive --format=zip --prefix=$(EXTENSION)-$(EXTVERSION)/ \
		--output=$(EXTENSION)-$(EXTVERSION).zip HEAD

release-check:
	test/release
