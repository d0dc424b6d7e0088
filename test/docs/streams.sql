\include files.sql
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = ''fast_copy''', current_database()); END $$;
