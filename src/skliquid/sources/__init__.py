"""Sources: the rows of CSV and Parquet files, of folders and of SQL queries, read by DuckDB."""
