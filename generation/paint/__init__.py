"""The hand behind the `paint` editor: what is wanted, where it goes, how it is drawn and how it is taken away."""
