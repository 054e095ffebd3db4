CREATE TABLE shopper (id int, name text, region text, "Full Name" text);
INSERT INTO shopper VALUES (1, 'Ada', 'EU', 'Ada L'), (2, 'Bob', NULL, 'Bob B'), (3, 'Cy', 'US', NULL);
CREATE TABLE purchase (id int, shopper_id int, price numeric(10,2), units int, state text, at timestamp, atz timestamptz, day date, doc jsonb, labels text[], note text, loose numeric, weight double precision, big bigint);
INSERT INTO purchase VALUES
 (1, 1, 10.50, 3, 'paid', '2024-01-01 10:00:00', '2024-01-01 10:00:00+00', '2024-01-01', '{"a":{"b":1},"k":"x","list":[1,2,3],"n":5}', '{red,blue}', 'hello', 1.5, 0.5, 5000000000),
 (2, 1, 20.00, 7, 'open', '2024-01-02 11:30:00', '2024-01-02 11:30:00+00', '2024-01-02', '{"a":{"b":2},"k":null,"list":[]}', '{blue}', NULL, 0.001, 10, 7),
 (3, 2, -5.25, 2, 'paid', '2024-02-01 00:00:00', '2024-02-01 00:00:00+00', '2024-02-01', '{"k":"y"}', '{}', 'World', -3, 1.25, -1),
 (4, 3, 100.00, NULL, NULL, '2024-03-05 23:59:59.5', '2024-03-05 23:59:59+00', '2024-03-05', NULL, NULL, 'foo%bar', NULL, NULL, NULL),
 (5, NULL, 0.10, 5, 'paid', '2024-03-06 00:00:01', '2024-03-06 00:00:01+00', '2024-03-06', '{"a":{"b":9},"k":"x"}', '{green}', '', 123456.789, 3, 0);
CREATE VIEW buyer AS SELECT s.id, s.name, count(p.id) AS n FROM shopper s LEFT JOIN purchase p ON p.shopper_id = s.id GROUP BY s.id, s.name;
CREATE VIEW busy AS SELECT * FROM buyer WHERE n > 0;
