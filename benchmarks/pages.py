"""Every page of the built book (`make html`) as a reader meets it: ``python -m benchmarks.pages > pages.csv``.

Heights are those of the article with everything folded as it is at the start, words those that can be read then. The
weight is what a plain server sends before anything is touched, without Python and plotly.js, which come when an
explorer is near. Of each explorer: its height as it starts, with the controls of a phone folded.
"""

from __future__ import annotations

import csv
import shutil
import sys
import threading
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome"))), None)
HTML = Path(__file__).resolve().parent.parent / "_build" / "html"
SIZES = {"wide": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
OPEN = "try { localStorage.setItem('hopper.open', '{\"all\":true}') } catch {}"
SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"

LOOK = """() => {
  const article = document.querySelector(".bd-article");
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect();
  // Icons and formulas are no pictures.
  const pictures = [...article.querySelectorAll(".hopper-phenomenon, svg, img, canvas, .hopper-plot")].filter((each) => {
    const box = seen(each);
    return box && box.width > 120 && box.height > 70 && box.top + Math.min(box.height, 120) < innerHeight;
  });
  const height = article.offsetHeight;
  const words = article.innerText.split(/\\s+/).filter(Boolean).length;
  for (const fold of article.querySelectorAll("details:has(.hopper-explorer)")) fold.open = true;
  const explorers = [...article.querySelectorAll(".hopper-explorer")].filter((box) => box.checkVisibility());
  const rows = performance.getEntriesByType("resource").filter(({ name }) => !/\\/plotly\\/|\\/pyodide\\/|\\.memory|\\/hopperlib-|^data:|^blob:/.test(name));
  const weight = rows.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, performance.getEntriesByType("navigation")[0].encodedBodySize);
  return {
    height,
    words,
    weight: Math.round(weight / 1000),
    picture: pictures.length > 0,
    explorers: explorers.map((box) => `${box.dataset.name}:${box.offsetHeight}`),
  };
}"""


def main() -> None:
    """Write a row a page."""
    from playwright.sync_api import sync_playwright

    from hopperbook.serve import server_for

    rows = csv.writer(sys.stdout)
    rows.writerow(
        [
            "page",
            *(f"{what}_{size}" for size in SIZES for what in ("height", "picture", "explorers")),
            "words",
            "weight_kb",
        ]
    )
    with server_for(HTML, 0) as server, sync_playwright() as tools:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = tools.chromium.launch(executable_path=CHROMIUM)
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(OPEN)
        page.add_init_script(SAVES_DATA)
        paths = sorted(
            path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html") if "_static" not in path.parts
        )
        for path in sys.argv[1:] or [path for path in paths if path not in ("index.html", "404.html", "search.html")]:
            row: list[object] = []
            for size in SIZES.values():
                page.goto("about:blank")
                page.set_viewport_size(size)
                page.goto(f"http://127.0.0.1:{server.server_port}/{path}", wait_until="load")
                page.wait_for_selector("html.hopper-ready", state="attached")
                page.wait_for_timeout(300)
                seen = page.evaluate(LOOK)
                row += [seen["height"], int(seen["picture"]), " ".join(seen["explorers"])]
                words, weight = seen["words"], seen["weight"]
            rows.writerow([path, *row, words, weight])
            sys.stdout.flush()
        server.shutdown()


if __name__ == "__main__":
    main()
