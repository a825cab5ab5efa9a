"""What is sent elsewhere: the Space to the Hub, curves to a tracker."""
