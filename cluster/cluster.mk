# The extension fast_copy_cluster, which sends rows to other servers: a library
# of its own, the only one that is linked with libpq.  Included by ../Makefile:
# PGXS makes one library of one directory.

WING = fast_copy_cluster
WING_LIBRARY = $(WING)$(DLSUFFIX)
WING_OBJS = $(sort $(patsubst %.c,%.o,$(wildcard cluster/src/*.c cluster/src/*/*.c)))
WING_DATA = $(srcdir)/cluster/$(WING).control $(sort $(wildcard $(srcdir)/cluster/$(WING)--*.sql))

$(WING_OBJS): override CPPFLAGS += -I$(srcdir)/cluster/src
cluster/src/wire/wire.o: override CPPFLAGS += -I$(libpq_srcdir)

# Before 16 all symbols would be seen by other libraries, and some are those of
# fast_copy (elsewhere/services.h).  It is loaded alone, too: what it lacks of
# fast_copy is missing in the list there.
$(WING_LIBRARY): $(WING_OBJS) cluster/exports
	$(CC) $(CFLAGS) $(WING_OBJS) $(LDFLAGS) $(LDFLAGS_SL) -shared \
		-Wl,--version-script=$(srcdir)/cluster/exports $(libpq) -o $@
	@if nm -D -u $@ 2>/dev/null | grep ' fc_' >&2; then rm $@; exit 1; fi

ifeq ($(LIBPQ),yes)
all: $(WING_LIBRARY)
install: install-wing
endif

install-wing: $(WING_LIBRARY)
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)' '$(DESTDIR)$(datadir)/extension'
	$(INSTALL_SHLIB) $(WING_LIBRARY) '$(DESTDIR)$(pkglibdir)/$(WING_LIBRARY)'
	$(INSTALL_DATA) $(WING_DATA) '$(DESTDIR)$(datadir)/extension/'

uninstall: uninstall-wing
uninstall-wing:
	rm -f '$(DESTDIR)$(pkglibdir)/$(WING_LIBRARY)' $(patsubst %,'$(DESTDIR)$(datadir)/extension/%',$(notdir $(WING_DATA)))

-include $(WING_OBJS:.o=.d)

.PHONY: install-wing uninstall-wing
