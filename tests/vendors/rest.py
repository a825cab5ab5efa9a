"""Meta's API as it answers images/edits, in OpenAI's form: the default of the vendors that are descriptions."""

from vendors.openai import error, is_order, rest, shown

__all__ = ["error", "is_order", "rest", "shown"]
KEY = "MODEL_API_KEY"
AUTH = ("authorization", "Bearer sentinel")
SPEC = "rest:base_url={base},timeout={timeout},poll=0.01"
PRICE = 0.01
