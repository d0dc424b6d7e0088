/*-------------------------------------------------------------------------
 *
 * heap/visibility.c
 *	  The visibility map of a table that was written in pages and is frozen.
 *
 * Under FREEZE heap_multi_insert marks each page that it fills as visible to
 * all and frozen, in the page's header and in the visibility map.
 * heap/page_writer.c marks the headers.  The map of a new file is made by the
 * leader when all pages are there, because then it can be written in pages,
 * too: one for each 255 MB of the table.  Pages that go through shared buffers
 * are marked in the table's own map as they are appended.
 *
 * On error in between a page has a marked header and no mark in the map, which
 * is sound as well.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "compat/compat.h"
#include "heap/page_file.h"
#include "heap/visibility.h"

/* The visibility map's layout, which visibilitymap.c keeps to itself */
#define FC_MAP_HEADER	MAXALIGN(SizeOfPageHeaderData)
#define FC_MAP_PER_BYTE	(BITS_PER_BYTE / BITS_PER_HEAPBLOCK)
#define FC_MAP_PER_PAGE	((BLCKSZ - FC_MAP_HEADER) * FC_MAP_PER_BYTE)

/* Fills a page of the map for so many blocks, all visible and frozen */
static void
fc_map_fill(char *page, uint32 nblocks)
{
	uint8	   *map = (uint8 *) page + FC_MAP_HEADER;

	PageInit((Page) page, BLCKSZ, 0);
	memset(map, 0xff, nblocks / FC_MAP_PER_BYTE);
	if (nblocks % FC_MAP_PER_BYTE != 0)
		map[nblocks / FC_MAP_PER_BYTE] =
			(1 << (nblocks % FC_MAP_PER_BYTE * BITS_PER_HEAPBLOCK)) - 1;
}

void
fc_buffer_map(Relation rel, const Buffer *pages, int n)
{
	Buffer		map = InvalidBuffer;

	for (int i = 0; i < n;)
	{
		visibilitymap_pin(rel, BufferGetBlockNumber(pages[i]), &map);
		i += fc_map_set(rel, pages + i, n - i, map);
	}
	ReleaseBuffer(map);
}

void
fc_write_page_map(Relation rel, FcLocator file)
{
	BlockNumber left = smgrnblocks(fc_smgr_open(&file), MAIN_FORKNUM);
	FcAppend	append = {.rel = rel,.file = file,.fork = VISIBILITYMAP_FORKNUM,.n = 1};
	char	   *page;

	if (left == 0)
		return;
	smgrcreate(fc_smgr_open(&file), VISIBILITYMAP_FORKNUM, false);
	append.pages = page = palloc(BLCKSZ);
	while (left > 0)
	{
		uint32		n = Min(left, FC_MAP_PER_PAGE);

		CHECK_FOR_INTERRUPTS();
		fc_map_fill(page, n);
		fc_file_reserve(&append, 1);
		fc_file_append(&append);
		left -= n;
	}
	pfree(page);
}
