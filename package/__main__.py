"""The command `convergebench`, also as `python -m convergebench`: Ctrl-C never shows the middle of an import.

While the command is being imported, Ctrl-C ends the process at once; nothing
is lost. Later it raises KeyboardInterrupt, but a library that is being
imported may turn that into another error, and Python may only print it.
"""

import os
import signal
import sys

# Not if a shell runs us in the background, and not if a child process imports its parent's script.
_USUAL = signal.getsignal(signal.SIGINT) is signal.default_int_handler and "__mp_main__" not in sys.modules
_pressed = False

if _USUAL:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _interrupt(number: int, frame: object) -> None:
    global _pressed
    _pressed = True
    raise KeyboardInterrupt


def _press_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Python only prints what a callback raises; press Ctrl-C again."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    from threading import Timer

    Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()


def main() -> None:
    from convergebench.cli.__main__ import main as command

    try:
        if _USUAL:
            sys.unraisablehook = _press_again
            signal.signal(signal.SIGINT, _interrupt)
        command(prog_name="convergebench")
    except Exception as error:
        if not _pressed:
            raise
        raise SystemExit("Aborted!") from error
    except KeyboardInterrupt:
        raise SystemExit("Aborted!") from None
    finally:
        if _USUAL:  # only Python itself has something left to do
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
