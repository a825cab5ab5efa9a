"""The starting pictures: a catalogue, and how each is fetched or made."""
