"""`convergebench weights ilniqe`: downloads the published parameters of ILNIQE."""

from ..._weights import parameters_command

command = parameters_command("ilniqe")
