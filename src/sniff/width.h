/*-------------------------------------------------------------------------
 *
 * sniff/width.h
 *	  Whether rows of the proposed columns fit into a page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SNIFF_WIDTH_H
#define FC_SNIFF_WIDTH_H

#include "sniff/columns.h"

/*
 * Makes columns of integers narrower, as far as the values seen allow, if the
 * widest row of the sample would not fit else, and says so.  ERROR 54000 if
 * that is not enough.  Types must have been decided.
 */
extern void fc_width_fit(FcTable *table);

#endif							/* FC_SNIFF_WIDTH_H */
