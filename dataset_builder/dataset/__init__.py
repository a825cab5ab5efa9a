"""The dataset's files and their one reader."""
