CREATE ROLE loader;
