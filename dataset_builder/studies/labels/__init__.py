"""Labels: what people say about pictures, as the table `labels`."""
