"""Which programs and which pictures are hard, and what became of the chains of each program."""
