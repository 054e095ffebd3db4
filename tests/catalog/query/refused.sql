0A000|recursion|WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
42883|unknown function|SELECT frobnicate(1)
42883|java_method|SELECT java_method('java.lang.System', 'exit', 1)
42883|reflect|SELECT reflect('java.util.UUID', 'randomUUID')
42883|input_file_name|SELECT input_file_name() FROM shopper
42883|read_files|SELECT * FROM read_files('/etc/passwd')
42P01|a path as a table|SELECT * FROM delta."/etc/passwd"
42P01|a text file as a table|SELECT * FROM text."/etc/passwd"
42P01|unknown table|SELECT * FROM nowhere
42703|unknown column|SELECT nme FROM shopper
42703|unknown qualified column|SELECT s.nme FROM shopper s
42703|alias hides the table's name|SELECT shopper.name FROM shopper s
42702|ambiguous column|SELECT id FROM shopper a, purchase b
42883|text against number|SELECT id FROM purchase WHERE note = 1
42883|text plus number|SELECT note + 1 FROM purchase
42804|union types apart|SELECT 1 UNION SELECT now()
42804|number as a condition|SELECT id FROM purchase WHERE units
42601|union widths apart|SELECT 1 UNION SELECT 1, 2
22P02|not JSON|SELECT 'nope'::jsonb
42704|unknown type|SELECT 1::frob
42846|no such cast|SELECT DATE '2024-01-01'::int
0A000|months and days in one interval|SELECT INTERVAL '1 month 1 day'
0A000|lock|SELECT id FROM shopper FOR UPDATE
0A000|array slice|SELECT labels[1:2] FROM purchase
0A000|pattern that Java reads otherwise|SELECT 'a' ~ '[[:alpha:]]'
0A000|sample|SELECT id FROM shopper TABLESAMPLE BERNOULLI (10)
42P10|order by a position that is not there|SELECT id FROM shopper ORDER BY 2
42712|same alias twice|SELECT 1 FROM shopper a, purchase a
0A000|aggregate not kept|SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) FROM shopper
0A000|arrays of arrays|SELECT ARRAY[ARRAY[1]]
0A000|interval sum|SELECT sum(at - TIMESTAMP '2024-01-01') FROM purchase
0A000|interval fields|SELECT '1 day'::interval d
