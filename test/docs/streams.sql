\include files.sql
