"""`convergebench weights niqe`: downloads the published parameters of NIQE."""

from ..._weights import parameters_command

command = parameters_command("niqe")
