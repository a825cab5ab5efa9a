"""Writes the report's folder: tables, figures and the page."""
