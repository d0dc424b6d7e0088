/*-------------------------------------------------------------------------
 *
 * fc_write_page_map.c
 *	  The visibility map of a table that was written by pages and is frozen.
 *
 * heap_multi_insert under FREEZE marks each page it fills as visible to all and
 * frozen, in the page's header and in the map.  fc_write_page.c marks the
 * headers; the map follows when all pages are there, because then it can be
 * written as pages, too: one for each 255 MB of the table.
 *
 * Pages whose header is marked and which the map does not have are sound, so
 * that nothing is lost where an error comes between.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymapdefs.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "fc_compat.h"
#include "fc_write_file.h"
#include "fc_write_page.h"

/* The map's layout, which visibilitymap.c keeps to itself */
#define FC_MAP_HEADER	MAXALIGN(SizeOfPageHeaderData)
#define FC_MAP_PER_BYTE	(BITS_PER_BYTE / BITS_PER_HEAPBLOCK)
#define FC_MAP_PER_PAGE	((BLCKSZ - FC_MAP_HEADER) * FC_MAP_PER_BYTE)

/* A page of the map for this many pages, all of them visible and frozen */
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
fc_write_page_map(Relation rel)
{
	BlockNumber left = RelationGetNumberOfBlocks(rel);
	FcAppend	append = {rel, VISIBILITYMAP_FORKNUM, NULL, 1, false, NULL, 0};
	char	   *memory;
	char	   *page;

	if (left == 0)
		return;
	if (!smgrexists(RelationGetSmgr(rel), VISIBILITYMAP_FORKNUM))
		smgrcreate(RelationGetSmgr(rel), VISIBILITYMAP_FORKNUM, false);
	/* the first bits would not be those of the first pages */
	if (smgrnblocks(RelationGetSmgr(rel), VISIBILITYMAP_FORKNUM) > 0)
		return;
	memory = palloc(BLCKSZ + FC_PAGE_ALIGN);
	page = fc_page_align(memory);
	append.pages = page;
	while (left > 0)
	{
		uint32		n = Min(left, FC_MAP_PER_PAGE);

		CHECK_FOR_INTERRUPTS();
		fc_map_fill(page, n);
		fc_file_append(&append);
		left -= n;
	}
	pfree(memory);
}
