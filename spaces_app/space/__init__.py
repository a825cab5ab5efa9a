"""The Space: tabs, views and endpoints over one dataset."""
