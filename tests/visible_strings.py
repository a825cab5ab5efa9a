"""Every visible string of the Space, one file a tab, to be reread by somebody who has not seen the code.

python tests/visible_strings.py DATASET OUT
"""

import sys
import tempfile
from pathlib import Path

from chromium import CHROMIUM, FLAGS
from playwright.sync_api import sync_playwright
from space_server import serving

TABS = ("leaderboard", "failures", "compare", "curves", "chains", "metrics", "score-yours", "labels")
STRINGS = """() => {
  for (const each of document.querySelectorAll('#cb details')) each.open = true;
  const found = new Set();
  const walk = document.createTreeWalker(document.querySelector('#cb'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    const words = walk.currentNode.data.trim().replace(/\\s+/g, ' ');
    if (node.checkVisibility() && words) found.add(words);
  }
  for (const each of document.querySelectorAll('#cb [title], #cb [aria-label], #cb [placeholder]'))
    if (each.checkVisibility()) for (const name of ['title', 'aria-label', 'placeholder'])
      if (each.getAttribute(name)) found.add(`(${name}) ${each.getAttribute(name)}`);
  return [...found];
}"""


def main():
    dataset, out = map(Path, sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as made,
        serving(dataset, Path(made), wait=180) as server,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        for tab in TABS:
            page.goto(f"{server.address}/?tab={tab}")
            page.wait_for_timeout(3000)
            if tab == "score-yours":
                page.get_by_role("button", name="Try an example").click()
                page.wait_for_selector("#answer h3", timeout=120_000)
            strings = page.evaluate(STRINGS)
            (out / f"{tab}.txt").write_text("\n".join(strings) + "\n", encoding="utf-8")
            print(f"{tab}: {len(strings)} strings", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
