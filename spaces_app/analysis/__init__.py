"""What the statistics share: cases, groups, outcomes, and the tables that they return."""
