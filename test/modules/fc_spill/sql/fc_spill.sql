\pset format unaligned
\pset tuples_only on
-- nothing, one, and few
SELECT fc_spill_test(0, 100, 1024, 2, true);
SELECT fc_spill_test(1, 100, 1024, 1, true);
SELECT fc_spill_test(1, 0, 1024, 1, false);
SELECT fc_spill_test(5000, 100, 1024, 1, true);
SELECT fc_spill_test(5000, 100, 1024, 1, false);
-- many blocks of several processes, and little memory
SELECT fc_spill_test(50000, 100, 1024, 3, true);
SELECT fc_spill_test(50000, 100, 64, 3, true);
SELECT fc_spill_test(50000, 100, 64, 3, false);
SELECT fc_spill_test(50000, 40, 4, 2, true);
SELECT fc_spill_test(50000, 0, 4, 2, true);
-- equal keys: the order of the file
SELECT fc_spill_test(30000, 60, 64, 3, true, 0, 1);
SELECT fc_spill_test(30000, 60, 4096, 3, true, 0, 1);
SELECT fc_spill_test(30000, 60, 64, 3, false, 0, 2);
-- long records, and such as are too long to be spilled
SELECT fc_spill_test(2000, 5000, 256, 2, true);
SELECT fc_spill_test(300, 200000, 1024, 2, true);
SELECT fc_spill_test(40, 3000000, 1024, 2, true);
-- bounds between cells, some within one key
SELECT fc_spill_test(50000, 100, 256, 3, true, 8, 2000);
SELECT fc_spill_test(50000, 100, 256, 3, false, 8, 2000);
SELECT fc_spill_test(50000, 100, 4096, 2, true, 8, 1);
SELECT fc_spill_test(50000, 100, 4096, 2, true, 500, 2000);
-- keys of all lengths
SELECT fc_spill_test(20000, 10, 256, 2, true, 0, 2147483647);
SELECT fc_spill_test(20000, 10, 256, 2, false, 0, 2147483647);
-- bare rows, and keys of each width in them
SELECT fc_spill_test(50000, 100, 64, 3, true, key_width => 8);
SELECT fc_spill_test(50000, 100, 256, 3, true, 8, 2000, key_width => 8);
SELECT fc_spill_test(30000, 60, 64, 3, true, 0, 1, key_width => 8);
SELECT fc_spill_test(50000, 100, 4096, 2, true, 500, 2000, key_width => 4);
SELECT fc_spill_test(50000, 40, 4, 2, true, key_width => 2);
SELECT fc_spill_test(2000, 10, 1024, 1, true, keep => true, key_width => 8);
-- offsets that are far apart, of one key
SELECT fc_spill_test(50000, 1000000, 512, 3, true, 0, 1, key_width => 8);
-- records with their numbers
SELECT fc_spill_test(50000, 100, 64, 3, false, 0, 10000, true);
SELECT fc_spill_test(50000, 100, 256, 3, true, 8, 2000, true);
-- the longest records, and offsets that are far apart
SELECT fc_spill_test(3000, 1073741822, 256, 2, false);
SELECT fc_spill_test(20000, 100000000, 256, 2, true);
-- what is kept in memory, and what is too much for that
SELECT fc_spill_test(0, 100, 1024, 1, true, 0, 10000, false, true);
SELECT fc_spill_test(1, 100, 1024, 1, true, 0, 10000, false, true);
SELECT fc_spill_test(2000, 10, 1024, 1, true, 0, 10000, false, true);
SELECT fc_spill_test(2000, 10, 1024, 1, false, 0, 1, false, true);
SELECT fc_spill_test(1000, 10, 1024, 1, false, 0, 100, true, true);
SELECT fc_spill_test(100, 1073741822, 1024, 1, false, 0, 10000, false, true);
SELECT fc_spill_test(50000, 10, 1024, 1, false, 0, 10000, false, true);
SELECT fc_spill_test(5000, 100, 1024, 1, true, 0, 10000, false, true);
-- blocks are as large as any number of cells lets them be: a third of each cell's
-- share of the memory, or of all of its rows, of 56 bytes on average
WITH cases AS (
	SELECT *, least(40000 / (processes * greatest(bounds, 100)), share * 1024 / greatest(bounds, 100) / 56) AS rows
	FROM unnest('{16,48,256,1024,8192,262144}'::int[]) AS share, unnest('{1,31,64}'::int[]) AS processes, unnest('{0,100,600,4000}'::int[]) AS bounds
)
SELECT share, processes, bounds, rows, spilled
FROM cases, fc_spill_test(40000, 40, share, processes, true, bounds, key_width => 8, rows_a_read => rows / 3) AS spilled
WHERE spilled !~ 'cells(, cut)?$';
