"""`convergebench weights brisque`: downloads the published parameters of BRISQUE."""

from ..._weights import parameters_command

command = parameters_command("brisque")
