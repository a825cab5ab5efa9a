"""What people say of pictures: the table `labels`, its questions, and files of labels."""
