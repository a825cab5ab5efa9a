"""The command `convergebench`, also as `python -m convergebench`: Ctrl-C never shows the middle of an import.

While the command itself is imported, Ctrl-C just ends the process: nothing is lost. Later it is KeyboardInterrupt as
usual, of which a library that is being imported may make an error of its own, or which Python may forget.
"""

import os
import signal
import sys

# Not where a shell runs us in the background, nor where a child process imports its parent's script.
USUAL = signal.getsignal(signal.SIGINT) is signal.default_int_handler and "__mp_main__" not in sys.modules
pressed = False

if USUAL:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(number: int, frame: object) -> None:
    global pressed
    pressed = True
    raise KeyboardInterrupt


def press_again(forgotten: "sys.UnraisableHookArgs") -> None:
    """What is raised in a callback, such as those of an import's locks, is only printed: the command would go on."""
    if not isinstance(forgotten.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(forgotten)
        return
    from threading import Timer

    Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()


def main() -> None:
    from convergebench.cli.__main__ import main as command

    try:
        if USUAL:
            sys.unraisablehook = press_again
            signal.signal(signal.SIGINT, interrupt)
        command(prog_name="convergebench")
    except Exception as error:
        if not pressed:
            raise
        raise SystemExit("Aborted!") from error
    except KeyboardInterrupt:
        raise SystemExit("Aborted!") from None
    finally:
        if USUAL:  # only Python itself has something left to do
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
