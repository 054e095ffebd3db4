inner join|SELECT s.name, p.id FROM shopper s JOIN purchase p ON p.shopper_id = s.id ORDER BY p.id
left join, grouped|SELECT s.name, count(p.id) FROM shopper s LEFT JOIN purchase p ON p.shopper_id = s.id AND p.state = 'paid' GROUP BY s.name ORDER BY 1
right join using|SELECT id, s.name, p.state FROM shopper s RIGHT JOIN purchase p USING (id) ORDER BY 1
full join using|SELECT id, s.name, p.state FROM shopper s FULL JOIN purchase p USING (id) ORDER BY 1
natural join|SELECT * FROM (SELECT id, name FROM shopper) a NATURAL JOIN (SELECT id, state FROM purchase) b ORDER BY id
cross join|SELECT a.id, b.id FROM shopper a CROSS JOIN shopper b ORDER BY 1, 2
self join|SELECT a.id, b.id FROM purchase a JOIN purchase b ON a.shopper_id = b.shopper_id AND a.id < b.id ORDER BY 1, 2
star of one|SELECT p.id, s.* FROM purchase p JOIN shopper s ON s.id = p.shopper_id ORDER BY 1
aggregates|SELECT state, count(*) FILTER (WHERE price > 5) f, sum(price) s, avg(price) a, min(units), max(units) FROM purchase GROUP BY state ORDER BY 1
aggregate types|SELECT sum(units), avg(units), sum(big), avg(weight), sum(weight) FROM purchase
having|SELECT shopper_id, sum(price) AS total FROM purchase GROUP BY shopper_id HAVING sum(price) > 0 ORDER BY 1
group by alias|SELECT date_trunc('month', at) AS m, count(*) FROM purchase GROUP BY m ORDER BY m
group by position|SELECT state, count(*) FROM purchase GROUP BY 1 ORDER BY 2 DESC, 1
group by input before alias|SELECT upper(state) AS state, count(*) FROM purchase GROUP BY state ORDER BY 1, 2
rollup|SELECT state, shopper_id, count(*) FROM purchase GROUP BY ROLLUP (state, shopper_id) ORDER BY 1, 2, 3
grouping sets|SELECT state, shopper_id, count(*) FROM purchase GROUP BY GROUPING SETS ((state), (shopper_id), ()) ORDER BY 1, 2, 3
lateral newest|SELECT s.id, t.pid FROM shopper s, LATERAL (SELECT p.id AS pid FROM purchase p WHERE p.shopper_id = s.id ORDER BY p.price DESC LIMIT 1) t ORDER BY 1
distinct|SELECT DISTINCT state FROM purchase ORDER BY 1
distinct on|SELECT DISTINCT ON (shopper_id) shopper_id, id, price FROM purchase ORDER BY shopper_id, price DESC
distinct on, limit|SELECT DISTINCT ON (state) state, id FROM purchase ORDER BY state DESC, id LIMIT 2
row_number|SELECT id, row_number() OVER (PARTITION BY shopper_id ORDER BY price DESC) rn FROM purchase ORDER BY 1
lag and frame|SELECT id, lag(price) OVER (ORDER BY id) l, sum(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) s FROM purchase ORDER BY 1
named window|SELECT id, first_value(price) OVER w f, last_value(price) OVER w l, dense_rank() OVER w FROM purchase WINDOW w AS (PARTITION BY shopper_id ORDER BY id) ORDER BY 1
window over nulls|SELECT id, rank() OVER (ORDER BY units) FROM purchase ORDER BY 1
window over groups|SELECT state, rank() OVER (ORDER BY count(*) DESC, state) FROM purchase GROUP BY state ORDER BY 1
window average|SELECT id, avg(units) OVER (PARTITION BY shopper_id) FROM purchase ORDER BY 1
ntile|SELECT id, ntile(2) OVER (ORDER BY id) FROM purchase ORDER BY 1
range frame|SELECT id, count(*) OVER (ORDER BY day RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) FROM purchase ORDER BY 1
json field|SELECT id, doc -> 'a' AS v FROM purchase ORDER BY 1
json text|SELECT id, doc ->> 'k' AS k FROM purchase ORDER BY 1
json nested, cast|SELECT id, (doc -> 'a' ->> 'b')::int + 1 AS b FROM purchase ORDER BY 1
json path|SELECT id, doc #>> '{a,b}' AS b, doc #> '{list,0}' AS l FROM purchase ORDER BY 1
json index|SELECT id, doc -> 'list' -> 0 AS v, doc -> 'list' ->> 2 AS w FROM purchase ORDER BY 1
json has key|SELECT id FROM purchase WHERE doc ? 'a' ORDER BY 1
json contains|SELECT id FROM purchase WHERE doc @> '{"k":"x"}' ORDER BY 1
json contains nested|SELECT id FROM purchase WHERE doc @> '{"a":{"b":2}}' ORDER BY 1
json from text|SELECT '{"b":1,"a":[true,null]}'::jsonb -> 'a' AS v
json elements|SELECT p.id, e.value FROM purchase p, jsonb_array_elements(p.doc -> 'list') AS e(value) ORDER BY 1, 2::text
json element texts|SELECT p.id, v FROM purchase p, jsonb_array_elements_text(p.doc -> 'list') AS v ORDER BY 1, 2
json object agg|SELECT jsonb_object_agg(name, id) FROM shopper
json build|SELECT jsonb_build_object('id', id, 'name', name, 'in', jsonb_build_array(id, true, null)) FROM shopper ORDER BY id
json agg|SELECT jsonb_agg(note ORDER BY id) FROM purchase
json length and type|SELECT id, jsonb_array_length(doc -> 'list') n, jsonb_typeof(doc -> 'k') t FROM purchase ORDER BY 1
json equality|SELECT id FROM purchase WHERE doc -> 'a' = '{ "b" : 1 }' ORDER BY 1
json null is not null|SELECT id, doc -> 'k' IS NULL AS a, doc ->> 'k' IS NULL AS b FROM purchase ORDER BY 1
date_trunc|SELECT id, date_trunc('day', at), date_trunc('week', at), date_trunc('quarter', atz) FROM purchase ORDER BY 1
extract|SELECT id, extract(year FROM at) y, extract(epoch FROM at) e, extract(dow FROM at) d, extract(isodow FROM at) i, extract(second FROM at) s FROM purchase ORDER BY 1
extract from date|SELECT id, extract(doy FROM day) y, extract(week FROM day) w, extract(month FROM day) m FROM purchase ORDER BY 1
interval arithmetic|SELECT id, at + INTERVAL '1 day' a, at - INTERVAL '2 hours 30 minutes' b, atz + INTERVAL '1 month' c, day + INTERVAL '36 hours' d FROM purchase ORDER BY 1
timestamps apart|SELECT id, at - TIMESTAMP '2024-01-01 00:00:00' AS d, atz - atz AS z FROM purchase ORDER BY 1
interval values|SELECT INTERVAL '1 day' a, INTERVAL '90 minutes' b, INTERVAL '14 months' c, '-1 day'::interval AS d
dates apart|SELECT id, day - DATE '2024-01-01' AS d, day + 1 AS n, day - 7 AS w FROM purchase ORDER BY 1
time zones|SELECT id, atz AT TIME ZONE 'America/New_York' AS t, at AT TIME ZONE 'Asia/Tokyo' AS u FROM purchase ORDER BY 1
timestamp from text|SELECT '2024-02-29 10:00'::timestamp a, '2024-02-29 10:00+02'::timestamptz b, '2024-02-29'::date c
timestamp to date|SELECT id, at::date, atz::date, day::timestamp FROM purchase ORDER BY 1
timestamps as text|SELECT id, at::text, atz::text, day::text FROM purchase ORDER BY 1
to_char|SELECT id, to_char(at, 'YYYY-MM-DD HH24:MI:SS') FROM purchase ORDER BY 1
to_timestamp|SELECT to_timestamp(1700000000), to_timestamp(1700000000.25)
compare date and timestamp|SELECT id FROM purchase WHERE at >= DATE '2024-02-01' ORDER BY 1
compare with a date literal|SELECT id FROM purchase WHERE at >= '2024-02-01' AND day < '2024-03-06' ORDER BY 1
generate_series|SELECT i FROM generate_series(1, 5) AS g(i) ORDER BY 1
generate_series down and empty|SELECT i FROM generate_series(5, 1, -2) i UNION ALL SELECT i FROM generate_series(3, 1) i ORDER BY 1
generate_series of days|SELECT d FROM generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-03', INTERVAL '1 day') AS g(d) ORDER BY 1
generate_series, lateral|SELECT p.id, g.i FROM purchase p CROSS JOIN LATERAL generate_series(1, p.units) AS g(i) WHERE p.units < 4 ORDER BY 1, 2
generate_series selected|SELECT id, generate_series(1, 2) AS i FROM shopper ORDER BY 1, 2
array_agg|SELECT shopper_id, array_agg(id ORDER BY id DESC) FROM purchase GROUP BY shopper_id ORDER BY 1
array_agg keeps nulls|SELECT array_agg(note ORDER BY id) FROM purchase
array_agg by two keys|SELECT array_agg(id ORDER BY state NULLS FIRST, price DESC) FROM purchase
array_agg of nothing|SELECT array_agg(id) FROM purchase WHERE false
string_agg|SELECT string_agg(name, ', ' ORDER BY name DESC) FROM shopper
string_agg distinct|SELECT string_agg(DISTINCT state, '|' ORDER BY state) FROM purchase
string_agg of nothing|SELECT string_agg(name, ',') FROM shopper WHERE id > 99
unnest|SELECT id, t FROM purchase, unnest(labels) AS t ORDER BY 1, 2
unnest, named|SELECT p.id, u.l FROM purchase p CROSS JOIN unnest(p.labels) AS u(l) ORDER BY 1, 2
any of an array column|SELECT id FROM purchase WHERE 'red' = ANY(labels) ORDER BY 1
any of a list|SELECT id FROM purchase WHERE id = ANY(ARRAY[1, 3]) ORDER BY 1
array subscript|SELECT id, labels[1], labels[9] FROM purchase ORDER BY 1
array functions|SELECT id, array_length(labels, 1), cardinality(labels), array_to_string(labels, '+'), array_position(labels, 'red') FROM purchase ORDER BY 1
array literals|SELECT ARRAY[1, 2] || 3 AS a, '{x,y}'::text[] AS b, ARRAY['a'] || ARRAY['b'] AS c, array_append(ARRAY[1], 2) AS d
string_to_array|SELECT string_to_array('a.b.c', '.') a, string_to_array('', ',') b
integer division|SELECT id, units / 2 AS h, -7 / 2 AS n, 7 % 3 AS m, -7 % 3 AS r FROM purchase ORDER BY 1
integer division of sums|SELECT sum(units) / count(*) AS a FROM purchase
numeric division|SELECT id, price / 3 AS x, loose / 7 AS y FROM purchase ORDER BY 1
division by kind|SELECT 1 / 3.0 AS x, 10 / 4 AS y, 10::float8 / 4 AS z, 10::numeric / 4 AS w
numeric products|SELECT id, price * units AS a, loose * loose AS b, loose * price AS c FROM purchase ORDER BY 1
numeric sums|SELECT id, price + units AS a, loose - 1 AS b, -price AS c FROM purchase ORDER BY 1
casts round|SELECT 3.5::int c, 2.5::int d, (-2.5)::int e, 3.99::bigint f, 2.5::float8::int g, 3.5::float8::int h
casts|SELECT '42'::int + 1 a, '3.7'::numeric(5,1) b, true::int c, 'yes'::boolean d, 7::boolean e, '1e3'::float8 f
casts to text|SELECT id::text || '-' || state, price::text, loose::text, (id > 1)::text, weight::text FROM purchase ORDER BY id
varchar cuts|SELECT 'abcdef'::varchar(3), 'abc'::char(2)
concat and nulls|SELECT id, note || 'x' a, concat(note, 'x', id) b, concat_ws(',', note, state) c FROM purchase ORDER BY 1
nulls last|SELECT id FROM purchase ORDER BY units, id
nulls first when descending|SELECT id FROM purchase ORDER BY units DESC, id
nulls as told|SELECT id FROM purchase ORDER BY state NULLS FIRST, id DESC NULLS LAST
order by expression|SELECT id FROM purchase ORDER BY price * -1, id
order by alias and input|SELECT id AS x, price AS id FROM purchase ORDER BY id
coalesce, nullif|SELECT id, coalesce(note, state, 'z'), nullif(note, ''), coalesce(units, 0.5) FROM purchase ORDER BY 1
greatest, least|SELECT id, greatest(units, 4), least(units, 4, NULL) FROM purchase ORDER BY 1
regex|SELECT id FROM purchase WHERE note ~ '^[A-Z]' OR note ~* 'HELLO' ORDER BY 1
regex not|SELECT id FROM purchase WHERE note !~ 'o' ORDER BY 1
regexp_replace first or all|SELECT regexp_replace('hello', 'l', 'L') a, regexp_replace('hello', 'l', 'L', 'g') b, regexp_replace('a1b2', '([0-9])', '<\1>') c
regexp_match|SELECT (regexp_match('foo123', '([a-z]+)([0-9]+)'))[2] a, (regexp_match('foo', '[0-9]'))[1] b
like|SELECT id FROM purchase WHERE note ILIKE 'h%' OR note LIKE 'foo\%bar' ORDER BY 1
like escape|SELECT id FROM purchase WHERE note LIKE 'foo!%%' ESCAPE '!' OR note NOT LIKE '%o%' ORDER BY 1
text functions|SELECT split_part('a,b,c', ',', 2) a, substring('hello' from 2 for 3) b, position('l' in 'hello') c, left('hello', 2) d, lpad('7', 3, '0') e, initcap('ab cd') f, length('héllo') g, trim(both 'x' from 'xax') h, left('hello', -2) i, right('hello', -2) j
substring before the start|SELECT substring('hello', -1, 4) a, substr('hello', 0, 3) b, substring('hello', 2) c
upper, lower, replace|SELECT upper('aé'), lower('AÉ'), replace('aaa', 'a', 'b'), repeat('ab', 3), reverse('abc'), strpos('abc', 'c') AS at, ltrim('  a'), rtrim('axx', 'x')
round and cut|SELECT round(2.5) a, round(0.125, 2) b, round(2.5::float8) c, ceil(1.2) d, trunc(1.99) e, floor(-1.5) f, round(1234.5, -2) g, trunc(-1.259, 2) h
with|WITH p AS (SELECT * FROM purchase WHERE state = 'paid'), q AS (SELECT shopper_id, count(*) n FROM p GROUP BY 1) SELECT * FROM q ORDER BY 1
with hides a table|WITH purchase AS (SELECT id FROM purchase WHERE id < 3) SELECT * FROM purchase ORDER BY 1
with, renamed|WITH a (x, y) AS (SELECT id, name FROM shopper) SELECT y, x FROM a ORDER BY x
except all|SELECT state FROM purchase EXCEPT ALL SELECT 'paid' ORDER BY 1
intersect all|SELECT shopper_id FROM purchase INTERSECT ALL SELECT id FROM shopper ORDER BY 1
union types|SELECT 1 AS a UNION ALL SELECT 2.5 UNION ALL SELECT NULL ORDER BY 1
union, limited|(SELECT id FROM purchase ORDER BY id DESC LIMIT 2) UNION ALL (SELECT id FROM shopper ORDER BY id LIMIT 1) ORDER BY id
values|SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, NULL)) AS v(x, y) ORDER BY 1
bare values|VALUES (1, 'x'), (2, 'y')
exists|SELECT s.id FROM shopper s WHERE EXISTS (SELECT 1 FROM purchase p WHERE p.shopper_id = s.id AND p.price > 15) ORDER BY 1
not in with null|SELECT id FROM shopper WHERE id NOT IN (SELECT shopper_id FROM purchase)
in a query|SELECT id FROM purchase WHERE shopper_id IN (SELECT id FROM shopper WHERE region = 'EU') ORDER BY 1
scalar subquery|SELECT s.id, (SELECT max(price) FROM purchase p WHERE p.shopper_id = s.id) m FROM shopper s ORDER BY 1
case|SELECT id, CASE WHEN price > 50 THEN 'big' WHEN price < 0 THEN 'neg' ELSE 'small' END, CASE state WHEN 'paid' THEN 1 END FROM purchase ORDER BY 1
bool aggregates|SELECT bool_and(price > 0), bool_or(price > 50) FROM purchase
statistics|SELECT round(stddev_samp(price), 4) s, round(var_pop(price), 4) v FROM purchase
quoted names|SELECT "Full Name" AS "Out Col" FROM shopper ORDER BY id
folded names|SELECT ID, NAME FROM SHOPPER ORDER BY Id
text is case sensitive|SELECT count(*) FROM shopper WHERE name = 'ada'
is distinct from|SELECT id FROM purchase WHERE state IS DISTINCT FROM 'paid' ORDER BY 1
is not distinct from|SELECT id FROM purchase WHERE state IS NOT DISTINCT FROM NULL ORDER BY 1
between symmetric|SELECT id FROM purchase WHERE price BETWEEN SYMMETRIC 20 AND 0 ORDER BY 1
rows compared|SELECT id FROM purchase WHERE (shopper_id, units) = (1, 3) ORDER BY 1
rows in a list|SELECT id FROM purchase WHERE (shopper_id, state) IN ((1, 'paid'), (2, 'paid')) ORDER BY 1
limit, offset|SELECT id FROM purchase ORDER BY id LIMIT 2 OFFSET 1
fetch first|SELECT id FROM purchase ORDER BY id FETCH FIRST 2 ROWS ONLY
strings|SELECT 'it''s', E'a\nb', 'back\slash', $$dollar'd$$
big integers|SELECT 2147483647::bigint + 1, 9223372036854775807, 99999999999999999999
md5 and sha|SELECT md5('a') m, encode(sha256('a'::bytea), 'hex') s
now|SELECT now() IS NOT NULL, current_date IS NOT NULL
mod and power|SELECT mod(-7, 3) b, abs(-3) c, power(2, 10) d, sqrt(16) e, 2 ^ 3 f, sign(-2.5) g, ln(1) h, exp(0) i
bits|SELECT 5 & 3 a, 5 | 3 b, 1 << 3 c, ~5 d, 5 # 3 e
text order|SELECT name FROM shopper ORDER BY name DESC
count distinct|SELECT count(DISTINCT state), count(DISTINCT (shopper_id, state)) FROM purchase
constant takes the column's type|SELECT id FROM purchase WHERE id = '1'
is true|SELECT id, (price > 5) IS TRUE, (units > 3) IS NOT TRUE, (units > 3) IS UNKNOWN FROM purchase ORDER BY 1
not and nulls|SELECT id FROM purchase WHERE NOT (units > 3) OR state IS NULL ORDER BY 1
unnamed columns|SELECT count(*), max(id), 1 + 1, upper('a'), id::text, CASE WHEN true THEN 1 END, coalesce(1, 2) FROM purchase GROUP BY id ORDER BY 2
same name twice|SELECT id, id AS id, name FROM shopper ORDER BY name
nested derived tables|SELECT y FROM (SELECT x + 1 AS y FROM (SELECT id * 2 AS x FROM shopper) a) b ORDER BY y
correlated twice|SELECT s.id, (SELECT count(*) FROM purchase p WHERE p.shopper_id = s.id AND p.price > (SELECT avg(price) FROM purchase)) FROM shopper s ORDER BY 1
uuid|SELECT 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid
floats|SELECT id, weight * 2, weight / 3 FROM purchase ORDER BY 1
view over a view|SELECT name, n FROM busy ORDER BY 1
view, joined|SELECT b.name, p.id FROM busy b JOIN purchase p ON p.shopper_id = b.id ORDER BY 2
