"""Draws the tables and writes the report's folder."""
