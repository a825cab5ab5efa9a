"""The dataset's files: their columns, their schema, and the one reader of Parquet, from a folder or the Hub."""
