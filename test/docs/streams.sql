\include files.sql
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = ''fast_copy''', current_database()); END $$;
-- excel.zip: a file in UTF-16, with the line ends of Windows
COPY (SELECT) TO PROGRAM 'cat >/dev/null; cd /data && printf "2024-01-02,7,1.5\r\n" | iconv -t UTF-16 >excel.csv && rm -f excel.zip && zip -q excel.zip excel.csv && rm excel.csv';
