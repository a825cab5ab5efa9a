"""Programs that only add: how long the background and the earlier additions last."""
