# CloudNativePG's extension image: the files of fast_copy alone, which the operator
# mounts beside its own image of PostgreSQL 18 or newer.  Of Debian's packages for the
# same version and the same Debian, in a directory of their own:
#   docker build -f packaging/extension.Dockerfile --build-arg PG_MAJOR=18 -t fast_copy-extension:18 DIRECTORY
#
# BASE is the image that it is mounted beside, or one with the same libraries: those
# that it lacks go to /system.
ARG PG_MAJOR=18
ARG BASE=postgres:${PG_MAJOR}-trixie

FROM ${BASE} AS tree
ARG PG_MAJOR
USER 0
COPY postgresql-${PG_MAJOR}-fast-copy_*.deb /packages/
RUN set -eu; \
	dpkg-query -W -f '${Package}\n' >/tmp/there; \
	apt-get update; \
	apt-get install -y --no-install-recommends /packages/*.deb; \
	mkdir -p /tree/lib /tree/share/extension /tree/system; \
	cp /usr/lib/postgresql/${PG_MAJOR}/lib/fast_copy*.so /tree/lib/; \
	cp /usr/share/postgresql/${PG_MAJOR}/extension/fast_copy* /tree/share/extension/; \
	for library in $(ldd /tree/lib/*.so | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u); do \
		owner=$(dpkg -S "*/$(basename "$(realpath "$library")")" | sed -n '1s/[:,].*//p'); \
		if ! grep -qxF "$owner" /tmp/there; then \
			cp "$library" /tree/system/; \
			echo "$owner"; \
		fi; \
	done >/tmp/added; \
	for package in postgresql-${PG_MAJOR}-fast-copy $(sort -u /tmp/added); do \
		mkdir -p "/tree/licenses/$package"; \
		cp "/usr/share/doc/$package/copyright" "/tree/licenses/$package/"; \
	done

FROM scratch
COPY --from=tree /tree/ /
USER 65532:65532
