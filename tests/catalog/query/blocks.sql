linear|||||SELECT a + 1 AS a1, s FROM t WHERE b > 1
linear|||||SELECT 1 AS x, 'y' AS y
linear|||||SELECT t.a, t.b, u.c FROM t JOIN u ON t.a = u.a
linear|||||SELECT t.b, u.c, w.v FROM t JOIN u ON t.a = u.a JOIN w ON w.a = u.a AND w.v > t.b
linear|||||SELECT t.a, w.k FROM t, w WHERE t.a = 1
linear|||||SELECT x.b, y.b AS c FROM t x JOIN t y ON x.a = y.a AND x.b < y.b
linear|||||SELECT a, s FROM t UNION ALL SELECT c, s FROM u UNION ALL SELECT 7, 'const'
linear|||||SELECT t.a, g.i FROM t CROSS JOIN LATERAL generate_series(1, t.b) AS g(i)
linear|||||SELECT y.a, y.z FROM (SELECT a, b * 2 AS z FROM t WHERE s IS NOT NULL) y JOIN u ON u.c = y.z
linear|||||WITH p AS (SELECT a, b FROM t WHERE b > 0) SELECT x.a, y.b FROM p x JOIN p y ON x.b = y.a
partitioned||a|a|rows,count|SELECT a, count(*) AS n, count(b) AS m FROM t GROUP BY a
partitioned||a|a||SELECT a, sum(b) AS x, sum(d) AS y, avg(b) AS z, avg(d) AS w FROM t GROUP BY a
partitioned||a|a||SELECT a, sum(f) AS x, avg(f) AS y FROM t GROUP BY a
partitioned||a,s|a,s|min,max|SELECT a, s, min(b) AS x, max(d) AS y FROM t GROUP BY a, s
partitioned||a|a||SELECT a, count(DISTINCT b) AS x, sum(DISTINCT d) AS y FROM t GROUP BY a
partitioned||a|a|count,sum|SELECT a, count(*) FILTER (WHERE b > 1) AS x, sum(b) FILTER (WHERE s = 'x') AS y FROM t GROUP BY a
partitioned||a|a||SELECT a, sum(b) AS x FROM t GROUP BY a HAVING count(*) > 2 AND sum(b) > 3
partitioned|||||SELECT count(*) AS n FROM t GROUP BY a
partitioned||k|k|rows|SELECT coalesce(a, 9) AS k, count(*) AS n FROM t GROUP BY coalesce(a, 9)
partitioned||f|f|rows|SELECT f, count(*) AS n FROM t GROUP BY f
partitioned||a,s|a,s|sum|SELECT t.a, u.s, sum(t.b * u.c) AS x FROM t JOIN u ON t.a = u.a GROUP BY t.a, u.s
partitioned||k|k|count,sum|SELECT w.k, count(t.b) AS n, sum(t.d) AS x FROM w LEFT JOIN t ON t.a = w.a GROUP BY w.k
partitioned||a|a|rows|SELECT a, count(*) AS n FROM (SELECT a FROM t UNION ALL SELECT a FROM u) x GROUP BY a
partitioned||a|a||SELECT a, array_agg(b ORDER BY b) AS x, string_agg(s, ',' ORDER BY s) AS y FROM t GROUP BY a
partitioned||a,s|a,s||SELECT DISTINCT a, s FROM t
partitioned||s,c|s,c||SELECT DISTINCT t.s, u.c FROM t JOIN u ON t.a = u.a
partitioned||n|n||SELECT DISTINCT n FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x
partitioned||i|i||SELECT DISTINCT generate_series(1, b) AS i FROM t
partitioned||a,s|a,s||SELECT a, s FROM t UNION SELECT a, s FROM u
partitioned||a,s|a,s||SELECT a, s FROM t EXCEPT SELECT a, s FROM u
partitioned|||a||SELECT a FROM t EXCEPT ALL SELECT a FROM u
partitioned||a,s|a,s||SELECT a, s FROM t INTERSECT SELECT a, s FROM u
partitioned|||a||SELECT a FROM t INTERSECT ALL SELECT a FROM u
partitioned|||a||SELECT t.a, t.b, u.c FROM t LEFT JOIN u ON t.a = u.a
partitioned|||||SELECT t.a, u.c, u.s FROM t LEFT JOIN u ON t.a = u.a AND t.s = u.s AND u.c > 1 WHERE t.b IS NOT NULL
partitioned|||||SELECT x.b, y.b AS c FROM t x LEFT JOIN t y ON x.a = y.b
partitioned|||a||SELECT t.a, t.b FROM t LEFT JOIN u ON t.a = u.a WHERE u.a IS NULL
partitioned|||a||SELECT t.b, u.a, u.c FROM t RIGHT JOIN u ON t.a = u.a
partitioned|||||SELECT t.a, t.b, u.a AS ua, u.c FROM t FULL JOIN u ON t.a = u.a
partitioned|||a||SELECT a, t.b, u.c FROM t FULL JOIN u USING (a)
partitioned|||||SELECT t.a, t.s, u.a AS ua, u.s AS us FROM t FULL JOIN u ON t.a = u.a AND t.s = u.s
partitioned|||b||SELECT w.k, t.b, u.c FROM w LEFT JOIN t ON w.a = t.a LEFT JOIN u ON u.c = t.b
linear|||||SELECT w.k, u.c, t.b FROM w LEFT JOIN u ON w.a = u.a JOIN t ON t.b = u.c
partitioned|||||SELECT w.k, u.c, t.b FROM w JOIN u ON w.a = u.a LEFT JOIN t ON t.b = u.c AND t.a = w.v
partitioned||k|||SELECT w.k, x.n FROM w LEFT JOIN (SELECT a, count(*) AS n FROM t GROUP BY a) x ON x.a = w.a
linear||a|||SELECT x.a, x.n, y.m FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x JOIN (SELECT a, max(c) AS m FROM u GROUP BY a) y ON x.a = y.a
partitioned||n|n|rows|SELECT n, count(*) AS m FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x GROUP BY n
partitioned|||a||SELECT a, b FROM t WHERE a IN (SELECT a FROM u WHERE c > 1)
partitioned|||a||SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.c > t.b)
partitioned|||a,s||SELECT a, s FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.s = t.s) AND b > 0
partitioned||k|||SELECT k, v FROM w WHERE a IN (SELECT a FROM t GROUP BY a HAVING count(*) > 2)
partitioned||a|a|rows|SELECT a, count(*) AS n FROM t WHERE a IN (SELECT a FROM u) AND b IN (SELECT v FROM w) GROUP BY a
partitioned|||a||SELECT a, b, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t
partitioned|||a||SELECT a, b, s FROM (SELECT a, b, s, row_number() OVER (PARTITION BY a ORDER BY b DESC) AS n FROM t) x WHERE n <= 2
partitioned||a|a||SELECT DISTINCT ON (a) a, b, s FROM t ORDER BY a, b DESC
partitioned|||a||SELECT a, b, sum(b) OVER (PARTITION BY a ORDER BY b ROWS UNBOUNDED PRECEDING) AS x, lag(s) OVER (PARTITION BY a, s ORDER BY b) AS y FROM t
partitioned|||a||SELECT a, rank() OVER (PARTITION BY a ORDER BY b) AS x, count(*) OVER (PARTITION BY a) AS y FROM t
partitioned||a,s|a||SELECT a, s, rank() OVER (PARTITION BY a ORDER BY count(*) DESC) AS x FROM t GROUP BY a, s
partitioned|||k||SELECT w.k, t.b, row_number() OVER (PARTITION BY w.k ORDER BY t.b) AS n FROM w LEFT JOIN t ON t.a = w.a
topk|||||SELECT a, b, s FROM t ORDER BY b DESC, a LIMIT 4
topk||a|||SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC LIMIT 2
topk||k|||SELECT k, v FROM w ORDER BY v LIMIT 50
topk|||||SELECT a, b FROM t LIMIT 3
partitioned||a|a||SELECT a, n FROM many
linear|||||SELECT x.b, m.n FROM wide x JOIN many m ON m.a = x.a
partitioned||c|c|sum|SELECT c, sum(b) AS x FROM wide GROUP BY c
partitioned||||rows,sum,min|SELECT count(*) AS n, sum(b) AS x, min(s) AS y FROM t
partitioned||||rows|SELECT count(*) AS n FROM t WHERE a > 100
recompute|window functions without a PARTITION BY that they share||||SELECT a, row_number() OVER (ORDER BY b) AS n FROM t
recompute|a subquery in an expression|k|||SELECT k, (SELECT max(b) FROM t WHERE t.a = w.a) AS m FROM w
recompute|a subquery in WHERE that is not a plain IN or EXISTS|k|||SELECT k FROM w WHERE a NOT IN (SELECT a FROM t)
recompute|OFFSET||||SELECT a, b FROM t ORDER BY a LIMIT 3 OFFSET 2
partitioned||a|a|rows,count,sum,count,sum|SELECT a, count(*) AS n, count(b) AS m, sum(b) AS x, count(d) AS o, sum(d) AS y, avg(d) AS z FROM t GROUP BY a
partitioned||a|a|sum,sum|SELECT a, sum(b) AS x, sum(d) AS y FROM t GROUP BY a
partitioned||a|a|rows,sum,min|SELECT a, count(*) AS n, sum(k) AS x, min(k) AS y FROM w GROUP BY a
partitioned||s|s|rows,count,count,sum|SELECT s, count(*) AS n, count(*) FILTER (WHERE b > 1) AS x, count(b) FILTER (WHERE a = 1) AS y, sum(b) FILTER (WHERE a = 1) AS z FROM t GROUP BY s
partitioned||a|a|rows,min,max,max|SELECT t.a, count(*) AS n, min(u.c) AS x, max(t.s) AS y, max(t.f) AS z FROM t JOIN u ON t.a = u.a GROUP BY t.a
partitioned||||rows,count,sum,sum|SELECT count(*) AS n, count(b) AS m, sum(b) AS x, sum(d) AS y FROM t
partitioned||||sum,sum,max|SELECT sum(b) AS x, sum(d) AS y, max(s) AS z FROM t
recompute|an aggregate over all rows below another step||||SELECT t.a, x.n FROM t CROSS JOIN (SELECT count(*) AS n FROM u) x
partitioned||b|b|rows|SELECT g.n AS m, g.a AS b FROM (SELECT a, count(*) AS n FROM t GROUP BY a) g
linear||k|||SELECT * FROM w
linear|||||SELECT k + 1 AS z FROM w
partitioned||k|||SELECT w.k, x.v FROM w LEFT JOIN w x ON x.k = w.a
linear|||||SELECT w.a, x.k, x.v FROM w JOIN w x ON x.k = w.a
linear||k,z|||SELECT x.k, y.k AS z FROM w x, w y
linear||k|||SELECT x.a, y.k FROM w x JOIN w y ON x.k = y.k
linear||k|||SELECT k, v FROM w WHERE a > 1 ORDER BY v
recompute|GROUPING SETS, ROLLUP or CUBE||||SELECT a FROM t GROUP BY ROLLUP (a)
recompute|a join that keeps unmatched rows and compares no columns||||SELECT t.a, u.c FROM t LEFT JOIN u ON t.a > u.a
recompute|a join that keeps unmatched rows and compares no columns||||SELECT t.a, u.c FROM t FULL JOIN u ON true
recompute|sums of floating-point numbers or unordered lists below another step|a|||SELECT a, sum(f) AS x FROM t GROUP BY a ORDER BY x LIMIT 3
recompute|sums of floating-point numbers or unordered lists below another step||||SELECT count(*) AS n FROM (SELECT a, sum(f) AS x FROM t GROUP BY a) y WHERE x > 1
recompute|sums of floating-point numbers or unordered lists without their key||||SELECT sum(f) AS x FROM t GROUP BY a
recompute|LIMIT below the top of the query||||SELECT * FROM (SELECT a FROM t LIMIT 3) x JOIN u ON u.a = x.a
recompute|ORDER BY .. LIMIT by what is not one of the columns||||SELECT a FROM t ORDER BY b LIMIT 3
recompute|a subquery in WHERE that is not a plain IN or EXISTS||||SELECT a FROM t WHERE a IN (SELECT a FROM u) OR b = 1
recompute|a subquery in WHERE that is not a plain IN or EXISTS||||SELECT a FROM t WHERE a > (SELECT max(c) FROM u)
recompute|a subquery in WHERE that compares no columns||||SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)
recompute|a LATERAL subquery||||SELECT w.k, x.b FROM w, LATERAL (SELECT b FROM t WHERE t.a = w.a ORDER BY b LIMIT 1) x
partitioned|||a||SELECT a, last_value(b) OVER (PARTITION BY a ORDER BY s) AS x FROM t
recompute|sums of floating-point numbers or unordered lists without their key||||SELECT b, sum(f) OVER (PARTITION BY a) AS x FROM t
recompute|window functions without a PARTITION BY that they share||||SELECT a, b, rank() OVER (PARTITION BY a ORDER BY b) AS x, count(*) OVER (PARTITION BY b) AS y FROM t
linear|||||SELECT a, count(*) AS n FROM t GROUP BY a UNION ALL SELECT a, c FROM u
partitioned||a|a||SELECT a, avg(b) AS x FROM t GROUP BY a
recompute|an aggregate over all rows||||SELECT count(DISTINCT a) AS x FROM t
