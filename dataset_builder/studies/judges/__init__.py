"""Judgements: the table of what models said, which metric_modules/_judges writes."""
