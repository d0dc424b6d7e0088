# The libraries that fast_copy is built with where they are installed.  Included
# by Makefile and by test/unit/Makefile.
#
#   make LZ4=no      does without it; so do the names below
#   make LZ4=yes     fails where it is missing
#   make NEEDED=yes  fails where any of them is missing, as a package's build should
#   make -sf libraries.mk debian | fedora | tools    prints names of packages
#
# Without one of them a load refuses what is packed so; without liburing it reads
# by preadv, and without libpq fast_copy_cluster is not built; the rest
# is as ever.  ISA-L unpacks gzip faster than zlib does, which is left out then; it
# is taken for x86_64 alone, and never needed: on arm64 it refuses sound files of
# long repetitions (issue 316 of ISA-L).
#
# This is the list from which the tests and packaging/Dockerfile take their names;
# that others have them all (src/source/codec.c, debian/, packaging/, docs/, README.md)
# is seen by test/style.

# ABOUT_NAME: header, library, what it is for, Debian's package, Fedora's, and Debian's with
# the tool that packs so
ABOUT_ISAL = isa-l/igzip_lib.h isal gzip libisal-dev isa-l-devel gzip
ABOUT_ZLIB = zlib.h z gzip zlib1g-dev zlib-devel gzip
ABOUT_ZSTD = zstd.h zstd zstd libzstd-dev libzstd-devel zstd
ABOUT_LZ4 = lz4frame.h lz4 lz4 liblz4-dev lz4-devel lz4
ABOUT_BZ2 = bzlib.h bz2 bzip2 libbz2-dev bzip2-devel bzip2
ABOUT_LZMA = lzma.h lzma xz liblzma-dev xz-devel xz-utils
ABOUT_URING = liburing.h uring io_uring liburing-dev liburing-devel
ABOUT_LIBPQ = libpq-fe.h pq other-servers libpq-dev libpq-devel

LIBRARIES_ALL := ISAL ZLIB ZSTD LZ4 BZ2 LZMA URING LIBPQ
LIBRARIES_CHOSEN := $(filter-out ISAL ZLIB LIBPQ,$(LIBRARIES_ALL))

fc_about = $(word $(1),$(ABOUT_$(2)))
fc_found = $(or $(NEEDED),$(call fc_there,$(1),$(2)))
fc_there = $(shell $(CC) $(CPPFLAGS) $(2) -include $(call fc_about,1,$(1)) -E -x c /dev/null >/dev/null 2>&1 && echo yes || echo missing)

ISAL := $(or $(ISAL),$(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),$(call fc_there,ISAL),no))
ZLIB := $(or $(ZLIB),$(if $(filter yes,$(ISAL)),no,$(call fc_found,ZLIB)))
$(foreach name,$(LIBRARIES_CHOSEN),$(eval $(name) := $(or $($(name)),$(call fc_found,$(name)))))

# For fast_copy_cluster alone (cluster/cluster.mk); its header lies with the
# server's
LIBPQ := $(or $(LIBPQ),$(call fc_found,LIBPQ,-I$(shell $(or $(PG_CONFIG),pg_config) --includedir 2>/dev/null)))

LIBRARIES := $(foreach name,ISAL ZLIB $(LIBRARIES_CHOSEN),$(if $(filter yes,$($(name))),$(name)))
LIBRARY_FLAGS := $(LIBRARIES:%=-DHAVE_%)
LIBRARY_LINKS := $(foreach name,$(LIBRARIES),-l$(call fc_about,2,$(name)))

define newline


endef

# What "make" says of them: what is there, and what is not though nobody said no
LIBRARIES_THERE := $(foreach name,$(LIBRARIES) $(if $(filter yes,$(LIBPQ)),LIBPQ),$(call fc_about,3,$(name)))
LIBRARIES_MISSING := $(foreach name,ZLIB $(LIBRARIES_CHOSEN) LIBPQ,$(if $(filter missing,$($(name))),$(name)))
fc_missing = fast_copy: without $(call fc_about,3,$(1)), because $(call fc_about,1,$(1)) was not found: install $(call fc_about,4,$(1)) (Debian) or $(call fc_about,5,$(1)) (Fedora)

# As a makefile of its own it prints names, each once.  ISA-L's is left out where it is
# not taken.
ifeq ($(words $(MAKEFILE_LIST)),1)
ifneq ($(filter libraries.mk %/libraries.mk,$(firstword $(MAKEFILE_LIST))),)
fc_packages = $(sort $(foreach name,$(if $(filter x86_64,$(shell uname -m)),$(LIBRARIES_ALL),$(filter-out ISAL,$(LIBRARIES_ALL))),$(call fc_about,$(1),$(name))))
debian:
	@echo $(call fc_packages,4)
fedora:
	@echo $(call fc_packages,5)
tools:
	@echo $(call fc_packages,6)
.PHONY: debian fedora tools
endif
endif
