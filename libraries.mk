# The libraries that fast_copy is built with where they are installed.  Included
# by Makefile and by test/unit/Makefile.
#
#   make LZ4=no      does without it; so do the names below
#   make LZ4=yes     fails where it is missing
#
# Without one of them a load refuses what is packed so; without liburing it reads
# by preadv, and without libpq core loads foreign tables, row by row; the rest
# is as ever.  ISA-L unpacks gzip faster than zlib
# does, which is left out then.  src/source/codec.c knows the packages, too.

# NAME: header, library, what it is for, Debian's package, Fedora's
ABOUT_ISAL = isa-l/igzip_lib.h isal gzip
ABOUT_ZLIB = zlib.h z gzip zlib1g-dev zlib-devel
ABOUT_ZSTD = zstd.h zstd zstd libzstd-dev libzstd-devel
ABOUT_LZ4 = lz4frame.h lz4 lz4 liblz4-dev lz4-devel
ABOUT_BZ2 = bzlib.h bz2 bzip2 libbz2-dev bzip2-devel
ABOUT_LZMA = lzma.h lzma xz liblzma-dev xz-devel
ABOUT_URING = liburing.h uring io_uring liburing-dev liburing-devel
ABOUT_LIBPQ = libpq-fe.h pq other-servers libpq-dev libpq-devel

fc_about = $(word $(1),$(ABOUT_$(2)))
fc_found = $(shell $(CC) $(CPPFLAGS) $(2) -include $(call fc_about,1,$(1)) -E -x c /dev/null >/dev/null 2>&1 && echo yes || echo missing)

ISAL := $(or $(ISAL),$(call fc_found,ISAL))
ZLIB := $(or $(ZLIB),$(if $(filter yes,$(ISAL)),no,$(call fc_found,ZLIB)))
$(foreach name,ZSTD LZ4 BZ2 LZMA URING,$(eval $(name) := $(or $($(name)),$(call fc_found,$(name)))))

# For a library of its own, which fast_copy loads when it has rows for other
# servers; its header lies with the server's
LIBPQ := $(or $(LIBPQ),$(call fc_found,LIBPQ,-I$(shell $(or $(PG_CONFIG),pg_config) --includedir 2>/dev/null)))

LIBRARIES := $(foreach name,ISAL ZLIB ZSTD LZ4 BZ2 LZMA URING,$(if $(filter yes,$($(name))),$(name)))
LIBRARY_FLAGS := $(LIBRARIES:%=-DHAVE_%)
LIBRARY_LINKS := $(foreach name,$(LIBRARIES),-l$(call fc_about,2,$(name)))

define newline


endef

# What "make" says of them: what is there, and what is not though nobody said no
LIBRARIES_THERE := $(foreach name,$(LIBRARIES) $(if $(filter yes,$(LIBPQ)),LIBPQ),$(call fc_about,3,$(name)))
LIBRARIES_MISSING := $(foreach name,ZLIB ZSTD LZ4 BZ2 LZMA URING LIBPQ,$(if $(filter missing,$($(name))),$(name)))
fc_missing = fast_copy: without $(call fc_about,3,$(1)), because $(call fc_about,1,$(1)) was not found: install $(call fc_about,4,$(1)) (Debian) or $(call fc_about,5,$(1)) (Fedora)
