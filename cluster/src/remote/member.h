/*-------------------------------------------------------------------------
 *
 * remote/member.h
 *	  A node's part of this transaction: a session, and what is done in it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_MEMBER_H
#define FC_MEMBER_H

#include "lib/ilist.h"
#include "nodes/pg_list.h"

#include "compat/compat.h"
#include "remote/node.h"

/* The option remote_commit: how rows on other servers are committed */
typedef enum FcRemoteCommit
{
	FC_COMMIT_ONE_PHASE,		/* one server after the other */
	FC_COMMIT_AUTO,				/* in two phases if all servers can */
	FC_COMMIT_TWO_PHASE			/* on all servers or on none */
} FcRemoteCommit;

/* How far a member has come to its end */
typedef enum FcMemberState
{
	FC_MEMBER_OPEN,				/* in a transaction */
	FC_MEMBER_PREPARING,		/* asked to prepare it: unknown */
	FC_MEMBER_PREPARED,
	FC_MEMBER_ENDED
} FcMemberState;

/* A table that was made on the node */
typedef struct FcMadeTable
{
	char	   *name;			/* with its schema, quoted */
	char	   *indexes;		/* commands that are to be run yet; or empty */
	int			level;			/* of the subtransaction that made it */
} FcMadeTable;

typedef struct FcMember
{
	dlist_node	link;			/* of the transaction's members */
	FcNode	   *node;
	int			level;			/* of the subtransaction that began it */
	int			depth;			/* of savepoints there, as levels here */
	List	   *made;			/* FcMadeTable, in the node's context */
	struct FcRemoteCopy *copy;	/* that runs, in a context of its own; or
								 * NULL */
	bool		ending;			/* told to end its COPY, and not asked since */
	bool		failed;			/* what was done since the last savepoint must
								 * be rolled back */
	bool		broken;			/* all that was done is lost */
	FcMemberState state;
	char	   *gid;			/* once it prepares */
} FcMember;

/* "for" over members, of which none may be deleted meanwhile */
#define fc_members_each(member, members) \
	for (FcMember *member = dlist_container(FcMember, link, (members)->head.next); \
		 &member->link != &(members)->head; \
		 member = dlist_container(FcMember, link, member->link.next))

/* Adds a table that was made there in the current subtransaction */
extern void fc_member_add_table(FcMember *member, const char *name, const char *indexes);

/* Finds a table that was made there, by its quoted name; or NULL */
extern FcMadeTable *fc_member_table(const FcMember *member, const char *name);

/* How many of the members, up to this one or all (NULL), are on the server? */
extern int	fc_member_count(dlist_head *members, Oid server, const FcMember *last);

/* Begins a transaction there, for the current subtransaction here */
extern FcMember *fc_member_begin(FcNode *node);

/* Makes the savepoints there that the current subtransaction needs */
extern void fc_member_enter(FcMember *member);

/*
 * The current subtransaction is about to end: releases the savepoint that was
 * made for it.  ERROR if the node does not do so.
 */
extern void fc_member_release(FcMember *member);

/* What was done in it belongs to the one around it from now on */
extern void fc_member_leave(FcMember *member);

/*
 * The current subtransaction, in which the member did not begin, is rolled
 * back.  Never throws; if the node does not roll back in time, the member is
 * broken.
 */
extern void fc_member_roll_back(FcMember *member);

/* Forgets the COPY, and frees it */
extern void fc_member_end_copy(FcMember *member);

/*
 * Ends a COPY that runs there, if there is one, and frees it; waits no longer
 * than until then.  Never throws where interrupts are held.
 */
extern void fc_member_cancel(FcMember *member, TimestampTz until);

/* The same for all that began in subtransactions from this level on */
extern void fc_member_cancel_all(dlist_head *members, int level, TimestampTz until);

/* ERROR if what was done there cannot be committed any more */
extern void fc_member_check(FcMember *member);

#endif							/* FC_MEMBER_H */
