"""Published scores: numbers from other publications, imported into the table `published`."""
