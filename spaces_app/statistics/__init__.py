"""From scores to tables: one file for each table of the report."""
