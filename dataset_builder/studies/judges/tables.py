"""The table that metric_modules/_judges writes, as far as this room needs it; its files declare their columns."""

from ...dataset.columns import Config

TABLES = (Config("judgements", made_by="judge", depends="what models said of the pictures", may_have_more=True),)
