"""Makes chains: what is asked, of whom, in which order, and where the answers are kept."""
