"""The studies' parts of this room, each in a folder of its own; the core finds their tables by place."""
