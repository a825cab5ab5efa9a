"""Runs the simulations and writes their tables into docs/statistics.md, or the page that a simulation names.

python tests/simulations/write.py                       all of them, about fifteen minutes of one core
python tests/simulations/write.py coverage invariance   these
python tests/simulations/write.py --scale 0.1 coverage  a tenth of the sets: printed, not written
"""

import argparse
import importlib
import pkgutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "statistics.md"
sys.path.insert(0, str(HERE.parent))


def main(words: list[str]) -> None:
    import simulations

    names = [module.name for module in pkgutil.iter_modules(simulations.__path__) if module.name != "write"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=", ".join(names))
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of sets")
    options = parser.parse_args(words)
    for name in options.names or names:
        if name not in names:
            parser.error(f"no simulation {name!r}; they are {', '.join(names)}")
        started = time.process_time()
        module = importlib.import_module(f"simulations.{name}")
        page = PAGE.with_name(getattr(module, "PAGE", PAGE.name))
        for mark, table in module.tables(options.scale).items():
            print(f"\n{mark}\n\n{table}", end="")
            if options.scale >= 1:
                simulations.put(page, mark, table)
        print(f"\n{name}: {time.process_time() - started:.0f} s of the processor", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
