"""The starting pictures: the catalogue of what there is, and how each is fetched, cropped, degraded or made."""
