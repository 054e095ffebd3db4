filter and project|SELECT a + 1 AS a1, s FROM t WHERE b > 1
constant|SELECT 1 AS x, 'y' AS y
inner join|SELECT t.a, t.b, u.c FROM t JOIN u ON t.a = u.a
three tables|SELECT t.b, u.c, w.v FROM t JOIN u ON t.a = u.a JOIN w ON w.a = u.a AND w.v > t.b
cross join|SELECT t.a, w.k FROM t, w WHERE t.a = 1
self join|SELECT x.b, y.b AS c FROM t x JOIN t y ON x.a = y.a AND x.b < y.b
union all|SELECT a, s FROM t UNION ALL SELECT c, s FROM u UNION ALL SELECT 7, 'const'
explode|SELECT t.a, g.i FROM t CROSS JOIN LATERAL generate_series(1, t.b) AS g(i)
derived|SELECT y.a, y.z FROM (SELECT a, b * 2 AS z FROM t WHERE s IS NOT NULL) y JOIN u ON u.c = y.z
cte twice|WITH p AS (SELECT a, b FROM t WHERE b > 0) SELECT x.a, y.b FROM p x JOIN p y ON x.b = y.a
count|SELECT a, count(*) AS n, count(b) AS m FROM t GROUP BY a
sums|SELECT a, sum(b) AS x, sum(d) AS y, avg(b) AS z, avg(d) AS w FROM t GROUP BY a
float sums|SELECT a, sum(f) AS x, avg(f) AS y FROM t GROUP BY a
min and max|SELECT a, s, min(b) AS x, max(d) AS y FROM t GROUP BY a, s
distinct aggregates|SELECT a, count(DISTINCT b) AS x, sum(DISTINCT d) AS y FROM t GROUP BY a
filter clause|SELECT a, count(*) FILTER (WHERE b > 1) AS x, sum(b) FILTER (WHERE s = 'x') AS y FROM t GROUP BY a
having|SELECT a, sum(b) AS x FROM t GROUP BY a HAVING count(*) > 2 AND sum(b) > 3
key not shown|SELECT count(*) AS n FROM t GROUP BY a
key is an expression|SELECT coalesce(a, 9) AS k, count(*) AS n FROM t GROUP BY coalesce(a, 9)
float key|SELECT f, count(*) AS n FROM t GROUP BY f
grouped join|SELECT t.a, u.s, sum(t.b * u.c) AS x FROM t JOIN u ON t.a = u.a GROUP BY t.a, u.s
grouped left join|SELECT w.k, count(t.b) AS n, sum(t.d) AS x FROM w LEFT JOIN t ON t.a = w.a GROUP BY w.k
grouped union|SELECT a, count(*) AS n FROM (SELECT a FROM t UNION ALL SELECT a FROM u) x GROUP BY a
array_agg|SELECT a, array_agg(b ORDER BY b) AS x, string_agg(s, ',' ORDER BY s) AS y FROM t GROUP BY a
distinct|SELECT DISTINCT a, s FROM t
distinct join|SELECT DISTINCT t.s, u.c FROM t JOIN u ON t.a = u.a
distinct of groups|SELECT DISTINCT n FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x
distinct of series|SELECT DISTINCT generate_series(1, b) AS i FROM t
union|SELECT a, s FROM t UNION SELECT a, s FROM u
except|SELECT a, s FROM t EXCEPT SELECT a, s FROM u
except all|SELECT a FROM t EXCEPT ALL SELECT a FROM u
intersect|SELECT a, s FROM t INTERSECT SELECT a, s FROM u
intersect all|SELECT a FROM t INTERSECT ALL SELECT a FROM u
left join|SELECT t.a, t.b, u.c FROM t LEFT JOIN u ON t.a = u.a
left join, more|SELECT t.a, u.c, u.s FROM t LEFT JOIN u ON t.a = u.a AND t.s = u.s AND u.c > 1 WHERE t.b IS NOT NULL
left join, self|SELECT x.b, y.b AS c FROM t x LEFT JOIN t y ON x.a = y.b
anti by left join|SELECT t.a, t.b FROM t LEFT JOIN u ON t.a = u.a WHERE u.a IS NULL
right join|SELECT t.b, u.a, u.c FROM t RIGHT JOIN u ON t.a = u.a
full join|SELECT t.a, t.b, u.a AS ua, u.c FROM t FULL JOIN u ON t.a = u.a
full join using|SELECT a, t.b, u.c FROM t FULL JOIN u USING (a)
full join, two keys|SELECT t.a, t.s, u.a AS ua, u.s AS us FROM t FULL JOIN u ON t.a = u.a AND t.s = u.s
left joins|SELECT w.k, t.b, u.c FROM w LEFT JOIN t ON w.a = t.a LEFT JOIN u ON u.c = t.b
left, then inner|SELECT w.k, u.c, t.b FROM w LEFT JOIN u ON w.a = u.a JOIN t ON t.b = u.c
inner, then left|SELECT w.k, u.c, t.b FROM w JOIN u ON w.a = u.a LEFT JOIN t ON t.b = u.c AND t.a = w.v
left of groups|SELECT w.k, x.n FROM w LEFT JOIN (SELECT a, count(*) AS n FROM t GROUP BY a) x ON x.a = w.a
joined groups|SELECT x.a, x.n, y.m FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x JOIN (SELECT a, max(c) AS m FROM u GROUP BY a) y ON x.a = y.a
groups of groups|SELECT n, count(*) AS m FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x GROUP BY n
in|SELECT a, b FROM t WHERE a IN (SELECT a FROM u WHERE c > 1)
exists|SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.c > t.b)
not exists|SELECT a, s FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.s = t.s) AND b > 0
in groups|SELECT k, v FROM w WHERE a IN (SELECT a FROM t GROUP BY a HAVING count(*) > 2)
in, grouped|SELECT a, count(*) AS n FROM t WHERE a IN (SELECT a FROM u) AND b IN (SELECT v FROM w) GROUP BY a
row_number|SELECT a, b, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t
top of each|SELECT a, b, s FROM (SELECT a, b, s, row_number() OVER (PARTITION BY a ORDER BY b DESC) AS n FROM t) x WHERE n <= 2
distinct on|SELECT DISTINCT ON (a) a, b, s FROM t ORDER BY a, b DESC
running sums|SELECT a, b, sum(b) OVER (PARTITION BY a ORDER BY b ROWS UNBOUNDED PRECEDING) AS x, lag(s) OVER (PARTITION BY a, s ORDER BY b) AS y FROM t
ranks|SELECT a, rank() OVER (PARTITION BY a ORDER BY b) AS x, count(*) OVER (PARTITION BY a) AS y FROM t
window over groups|SELECT a, s, rank() OVER (PARTITION BY a ORDER BY count(*) DESC) AS x FROM t GROUP BY a, s
window over left join|SELECT w.k, t.b, row_number() OVER (PARTITION BY w.k ORDER BY t.b) AS n FROM w LEFT JOIN t ON t.a = w.a
first rows|SELECT a, b, s FROM t ORDER BY b DESC, a LIMIT 4
first groups|SELECT a, count(*) AS n FROM t GROUP BY a ORDER BY n DESC LIMIT 2
first of few|SELECT k, v FROM w ORDER BY v LIMIT 50
any rows|SELECT a, b FROM t LIMIT 3
view|SELECT a, n FROM many
view, joined|SELECT x.b, m.n FROM wide x JOIN many m ON m.a = x.a
view, grouped|SELECT c, sum(b) AS x FROM wide GROUP BY c
all rows|SELECT count(*) AS n, sum(b) AS x, min(s) AS y FROM t
none|SELECT count(*) AS n FROM t WHERE a > 100
window of all|SELECT a, row_number() OVER (ORDER BY b) AS n FROM t
scalar subquery|SELECT k, (SELECT max(b) FROM t WHERE t.a = w.a) AS m FROM w
not in|SELECT k FROM w WHERE a NOT IN (SELECT a FROM t)
offset|SELECT a, b FROM t ORDER BY a LIMIT 3 OFFSET 2
counted sums|SELECT a, count(*) AS n, count(b) AS m, sum(b) AS x, count(d) AS o, sum(d) AS y, avg(d) AS z FROM t GROUP BY a
sums without counts|SELECT a, sum(b) AS x, sum(d) AS y FROM t GROUP BY a
sums of what is there|SELECT a, count(*) AS n, sum(k) AS x, min(k) AS y FROM w GROUP BY a
counts by filter|SELECT s, count(*) AS n, count(*) FILTER (WHERE b > 1) AS x, count(b) FILTER (WHERE a = 1) AS y, sum(b) FILTER (WHERE a = 1) AS z FROM t GROUP BY s
utmost of joined|SELECT t.a, count(*) AS n, min(u.c) AS x, max(t.s) AS y, max(t.f) AS z FROM t JOIN u ON t.a = u.a GROUP BY t.a
counts of all|SELECT count(*) AS n, count(b) AS m, sum(b) AS x, sum(d) AS y FROM t
sums of all|SELECT sum(b) AS x, sum(d) AS y, max(s) AS z FROM t
totals shared|SELECT t.a, x.n FROM t CROSS JOIN (SELECT count(*) AS n FROM u) x
renamed groups|SELECT g.n AS m, g.a AS b FROM (SELECT a, count(*) AS n FROM t GROUP BY a) g
averages|SELECT a, avg(b) AS x, avg(d) AS y FROM t GROUP BY a
averages by filter|SELECT s, avg(b) FILTER (WHERE a > 1) AS x, max(b) - min(b) AS y, sum(d) AS z FROM t GROUP BY s
shares|SELECT a, s, 100 * sum(b) / nullif(count(*), 0) AS x, sum(-b) AS y FROM t GROUP BY a, s
averages of joined|SELECT u.s, avg(t.d) AS x, sum(u.c) AS y FROM t JOIN u ON t.a = u.a GROUP BY u.s
renamed averages|SELECT g.x + 1 AS z, g.a AS k, g.y FROM (SELECT a, avg(b) AS x, sum(b) AS y, max(s) AS q FROM t GROUP BY a) g
averages of ordered keys|SELECT d, f, avg(b) AS x FROM t GROUP BY d, f
