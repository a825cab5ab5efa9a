"""Try yours: a visitor's own series, scored by the dataset's rules."""
