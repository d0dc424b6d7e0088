-- Random patterns of to_timestamp's words, and random values: what is accepted
-- means what to_timestamp makes of it, and has the signs, separators and
-- letters that to_char writes by the pattern.
--
-- By hand with more of them, and others:
--   PGOPTIONS='-c fc.patterns=20000 -c fc.seed=0.7' make installcheck
\pset format unaligned
\pset tuples_only on
SET datestyle = 'ISO, MDY';

-- One of them
CREATE FUNCTION pick(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
SELECT choices[1 + floor(random() * cardinality(choices))::int]
$$;

-- In another order
CREATE FUNCTION shuffled(words text[]) RETURNS text[] LANGUAGE sql VOLATILE AS $$
SELECT array_agg(w ORDER BY r) FROM (SELECT w, random() AS r FROM unnest(words) AS w OFFSET 0) AS q
$$;

-- Words that name a day, a time and a zone, and some that say it again
CREATE FUNCTION random_words() RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	words text[] := CASE floor(random() * 9)
		WHEN 0 THEN ARRAY['IYYY', 'IW', 'ID']
		WHEN 1 THEN ARRAY[pick('IYYY', 'IYY', 'IY', 'I'), pick('IDDD', 'IW')]
		WHEN 2 THEN ARRAY['YYYY', 'DDD']
		WHEN 3 THEN ARRAY[pick('J', 'YYYY', 'Y,YYY')]
		WHEN 4 THEN ARRAY['CC', pick('YY', 'Y'), pick('MM', 'Mon'), 'DD']
		WHEN 5 THEN ARRAY['YYYY', pick('WW', 'Q', 'CC')]
		WHEN 6 THEN ARRAY['YYYY', 'MM', 'W']
		ELSE ARRAY[pick('YYYY', 'YYYY', 'YYYY', 'YYY', 'YY', 'Y', 'Y,YYY'), pick('MM', 'Mon', 'MON', 'Month', 'MONTH', 'RM', 'rm'), 'DD'] END;
BEGIN
	IF random() < 0.25 THEN
		words := words || pick('AD', 'BC', 'A.D.', 'B.C.', 'ad', 'b.c.');
	END IF;
	IF random() < 0.2 THEN
		words := words || pick('Q', 'D', 'Dy', 'DY', 'Day', 'DAY', 'CC', 'W', 'WW');
	END IF;
	IF random() < 0.3 THEN
		words := shuffled(words);
	END IF;
	IF random() < 0.5 THEN
		words := words || CASE floor(random() * 5)
			WHEN 0 THEN ARRAY[pick('SSSSS', 'SSSS')]
			WHEN 1 THEN ARRAY[pick('HH12', 'HH'), 'MI', 'SS', pick('AM', 'PM', 'A.M.', 'P.M.', 'am', 'p.m.')]
			WHEN 2 THEN ARRAY['HH24', 'MI', 'SS', pick('MS', 'US', 'FF1', 'FF3', 'FF6')]
			WHEN 3 THEN ARRAY['HH24', 'MI', pick('AM', 'p.m.')]
			ELSE ARRAY['HH24', 'MI', 'SS'] END;
		IF random() < 0.3 THEN
			words := words || CASE WHEN random() < 0.5 THEN ARRAY[pick('TZH', 'TZ', 'OF')] ELSE ARRAY['TZH', 'TZM'] END;
		END IF;
	END IF;
	RETURN CASE WHEN random() < 0.1 THEN shuffled(words) ELSE words END;
END
$$;

CREATE FUNCTION random_pattern() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	pattern text := pick('', '', '', '', 'FX', '"on "', '''');
	separator text := pick('-', '.', ',', '/', ' ', '', ':', ';', ', ', '. ', ' - ', '"T"', '" of "', '''');
	same boolean := random() < 0.5;
	modifiers boolean := random() < 0.4;
	word text;
BEGIN
	FOREACH word IN ARRAY random_words() LOOP
		IF pattern NOT IN ('', 'FX', '"on "', '''') THEN
			pattern := pattern || CASE WHEN same THEN separator ELSE pick('-', '.', ',', '/', ' ', '', ':', ';', ', ', '.  ', '"x"', '-"."') END;
		END IF;
		pattern := pattern || CASE WHEN modifiers AND random() < 0.4 THEN pick('FM', 'TM', 'FM', 'FX', 'fm', 'tm') ELSE '' END
			|| word || CASE WHEN modifiers AND random() < 0.2 THEN pick('TH', 'th', 'SP') ELSE '' END;
	END LOOP;
	RETURN CASE WHEN random() < 0.1 THEN lower(pattern) ELSE pattern END;
END
$$;

-- A value with a fault, or with another one that looks as good
CREATE FUNCTION spoilt(s text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p int := 1 + floor(random() * length(s));
	q int := 1 + floor(random() * length(s));
BEGIN
	RETURN CASE floor(random() * 12)
		WHEN 0 THEN overlay(s PLACING pick('-', '+', '.', ',', ' ', '/', '0', '9', 'a', 'X') FROM p FOR 1)
		WHEN 1 THEN overlay(s PLACING '' FROM p FOR 1)
		WHEN 2 THEN overlay(s PLACING pick('-', '+', ' ', '.', '0', '1', 'th', '- ') FROM p FOR 0)
		WHEN 3 THEN substr(s, 1, p)
		WHEN 4 THEN s || pick('-', ' ', '0', '.', 'AD', 'x', '+')
		WHEN 5 THEN regexp_replace(s, '(\d)(\d+)', '\1', 'g')
		WHEN 6 THEN regexp_replace(s, '([-./,:; ])(\d)', pick('\1-\2', '\1+\2', '\1 \2', '\2', '\1\1\2', '\1 -\2'))
		WHEN 7 THEN translate(s, '-./,:;', pick('.-,/;:', '------', ',,,,,,', '      '))
		WHEN 8 THEN overlay(overlay(s PLACING substr(s, q, 1) FROM p FOR 1) PLACING substr(s, p, 1) FROM q FOR 1)
		WHEN 9 THEN '-' || s
		WHEN 10 THEN regexp_replace(s, '\m0+(\d)', '\1', 'g')
		ELSE CASE WHEN random() < 0.5 THEN lower(s) ELSE upper(s) END END;
END
$$;

CREATE FUNCTION fast_copy_reads(pattern text, type regtype, value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN fc_pattern_try(pattern, type, value);
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END
$$;

CREATE FUNCTION core_reads(pattern text, type regtype, value text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN type = 'timestamptz'::regtype THEN to_timestamp(value, pattern)::text
		WHEN type = 'timestamp'::regtype THEN to_timestamp(value, pattern)::timestamp::text
		WHEN pattern ~* 'TZ|OF' THEN to_timestamp(value, pattern)::date::text
		ELSE to_date(value, pattern)::text END;
EXCEPTION WHEN OTHERS THEN
	RETURN 'error: ' || SQLERRM;
END
$$;

-- Signs and separators, and letters, as far as they can be told from to_char,
-- which writes a sign for centuries BC, and other names for contradictions
CREATE FUNCTION marks(s text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT regexp_replace(s, '[[:alnum:][:space:]]', '', 'g') $$;
CREATE FUNCTION letters(s text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ 
SELECT regexp_replace(regexp_replace(lower(s), '(?<=\d)(st|nd|rd|th)', 'th', 'g'), '[^[:alpha:]]', '', 'g')
$$;

CREATE TABLE fault (pattern text, type regtype, zone text, value text, here text, there text);

-- Tries one pattern with some values; how many it accepted, or NULL for one that is refused
CREATE FUNCTION try_pattern(pattern text, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	type regtype := pick('timestamptz', 'timestamp', 'date');
	zone text := CASE WHEN type = 'timestamp'::regtype AND pattern !~* 'TZ|OF' THEN 'UTC' ELSE pick('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata') END;
	accepted int := 0;
	value text; here text; there text; shown text;
BEGIN
	PERFORM set_config('timezone', zone, false), fc_pattern_kind(pattern);
	FOR i IN 1 .. n LOOP
		value := to_char((timestamp '0001-01-01' + random() * pick('2060 years', '2060 years', '200 years', '12000 years', '-900 years')::interval) AT TIME ZONE zone, pattern);
		FOR k IN 1 .. floor(random() * 3)::int LOOP
			value := spoilt(value);
		END LOOP;
		here := fast_copy_reads(pattern, type, value);
		CONTINUE WHEN here IS NULL;
		accepted := accepted + 1;
		there := core_reads(pattern, type, trim(value));
		-- a date may be later than any timestamp
		shown := CASE WHEN here !~ '^\d{6}' THEN to_char(here::timestamptz, pattern) END;
		-- before 17 to_timestamp has neither TZ nor OF
		CONTINUE WHEN there ~ 'is only supported in to_char';
		IF here <> there THEN
			INSERT INTO fault VALUES (pattern, type, zone, value, here, there);
		ELSIF (pattern !~* 'TZ|OF' AND (pattern !~* 'CC' OR here !~ 'BC') AND marks(value) <> marks(shown)) OR
			(pattern !~* 'TZ|OF|D(AY|Y)|CC|J|DDD|I|W|AD|A\.D|BC|B\.C|AM|A\.M|PM|P\.M' AND letters(value) <> letters(shown)) THEN
			INSERT INTO fault VALUES (pattern, type, zone, value, here, 'to_char: ' || shown);
		END IF;
	END LOOP;
	RETURN accepted;
EXCEPTION WHEN invalid_parameter_value OR invalid_datetime_format THEN
	RETURN NULL;
END
$$;

-- The other style's patterns, each with to_timestamp's for the same
CREATE FUNCTION try_other_style(n int) RETURNS TABLE (accepted bigint, faults bigint) LANGUAGE plpgsql AS $$
DECLARE
	days text[] := ARRAY['yyyy-MM-dd', 'YYYY-MM-DD', 'd-MMM-yyyy', 'DD-Mon-YYYY', 'yy-M-d', 'YY-MM-DD', 'EEE d-MM-y', 'Dy DD-MM-YYYY', 'yyyyMMdd', 'YYYYMMDD'];
	times text[] := ARRAY['', '', '''T''HH:mm:ss.SSS', '"T"HH24:MI:SS.MS', ' hh:mm a', ' HH12:MI AM', ' H.m.s,U+', ' HH24.MI.SS,US', ' HHmmss', ' HH24MISS', ' HH:mm:ssx', ' HH24:MI:SSTZH:TZM'];
	i int; k int;
	pattern text; known text; separator text; value text; here text; there text;
	type regtype;
BEGIN
	accepted := 0;
	faults := 0;
	FOR step IN 1 .. n LOOP
		i := 1 + 2 * floor(random() * cardinality(days) / 2)::int;
		k := 1 + 2 * floor(random() * cardinality(times) / 2)::int;
		separator := pick('-', '/', '.', ' ', ',');
		pattern := replace(days[i], '-', separator) || times[k];
		known := replace(days[i + 1], '-', separator) || times[k + 1];
		type := pick('timestamptz', 'timestamp', 'date');
		PERFORM set_config('timezone', CASE WHEN type = 'timestamp'::regtype THEN 'UTC' ELSE pick('UTC', 'Europe/Berlin') END, false);
		value := to_char(timestamptz '0001-02-01' + random() * interval '2060 years', known);
		FOR m IN 1 .. floor(random() * 3)::int LOOP
			value := spoilt(value);
		END LOOP;
		here := fast_copy_reads(pattern, type, value);
		CONTINUE WHEN here IS NULL;
		accepted := accepted + 1;
		-- an offset needs no colon in this style
		there := core_reads(known, type, regexp_replace(trim(value), '(:\d+[-+]\d\d)(\d\d)$', '\1:\2'));
		IF here <> there THEN
			faults := faults + 1;
			INSERT INTO fault VALUES (pattern, type, current_setting('timezone'), value, here, there);
		END IF;
	END LOOP;
	RETURN NEXT;
END
$$;

SELECT set_config('fc.patterns', coalesce(nullif(current_setting('fc.patterns', true), ''), '400'), false) AS patterns,
	setseed(coalesce(nullif(current_setting('fc.seed', true), ''), '0.42')::float8) \g /dev/null
CREATE TABLE tried AS
SELECT p, try_pattern(p, 20) AS accepted FROM (SELECT random_pattern() AS p FROM generate_series(1, current_setting('fc.patterns')::int) OFFSET 0) AS q;
-- most patterns are patterns, and enough values are read
SELECT count(accepted) > count(*) * 0.5, count(*) FILTER (WHERE accepted > 0) > count(*) * 0.3, sum(accepted) > count(*) * 4 FROM tried;
SELECT accepted > current_setting('fc.patterns')::int * 3, faults FROM try_other_style(current_setting('fc.patterns')::int * 10);
SELECT * FROM fault ORDER BY pattern, value LIMIT 20;
SELECT count(*) AS faults FROM fault;
