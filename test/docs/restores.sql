\include accelerate_copy.sql
COPY orders FROM '/data/orders.csv' (FORMAT csv, HEADER);
COPY orders FROM '/data/more_orders.csv' (FORMAT csv, HEADER);
