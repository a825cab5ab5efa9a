"""Imports chains that were made elsewhere, from folders, tables and datasets in known layouts."""
