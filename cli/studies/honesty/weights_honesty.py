"""`convergebench weights honesty`: downloads the network that recognises text in pictures."""

from ..._weights import parameters_command

command = parameters_command("honesty", "the reader of words")
