"""Take the README's picture from the built book: `make pictures`.

The picture keeps a digest of the answer that it shows. A test compares it with the answer of today, so a picture of an
older page does not stay.
"""

import hashlib
import json
import shutil
import sys
import threading
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "book" / "images" / "placement.png"
# The page and the explorer that the picture shows, as wide as a README shows it.
_PAGE, _EXPLORER, _WIDTH, _HEIGHT = "notebooks/node/placement.html", "place", 1100, 760
_KEY = "Answer"


def answer_digest() -> str:
    """Return a digest of the answer that the picture shows: the explorer's, as it starts."""
    from hopperkit.questions.question import load
    from hopperkit.render.answer import page_answer

    return hashlib.sha256(json.dumps(page_answer(load(_EXPLORER), {}), sort_keys=True).encode()).hexdigest()[:16]


def kept_digest(picture: Path = PICTURE) -> str:
    """Return the digest that a picture holds; empty if it has none."""
    with Image.open(picture) as image:
        return str(image.info.get(_KEY, ""))


def take(site: Path, picture: Path = PICTURE) -> None:
    """Photograph the explorer on its page of a built site."""
    from hopperbook.serve import server_for

    browser = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    with server_for(site, 0) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = playwright.chromium.launch(executable_path=browser).new_page(
            viewport={"width": _WIDTH, "height": _HEIGHT}, device_scale_factor=1.5
        )
        page.goto(f"http://127.0.0.1:{server.server_port}/{_PAGE}")
        page.wait_for_selector("html.hopper-ready", state="attached")
        explorer = page.locator(f"#explorer-{_EXPLORER}")
        explorer.scroll_into_view_if_needed()
        page.evaluate(
            "id => window.scrollTo(0, document.getElementById(id).getBoundingClientRect().top + scrollY - 70)",
            explorer.get_attribute("id"),
        )
        page.wait_for_timeout(1000)
        # It floats above the explorer.
        page.evaluate("document.getElementById('pst-back-to-top')?.remove()")
        page.screenshot(path=picture)
        server.shutdown()
    with Image.open(picture) as image:
        about = PngInfo()
        about.add_text(_KEY, answer_digest())
        image.convert("RGB").quantize(128).save(picture, pnginfo=about, optimize=True)


if __name__ == "__main__":
    html = ROOT / "_build" / "html"
    if not (html / _PAGE).is_file():
        sys.exit("the book is not built: run `make html` first")
    take(html)
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1000} kB")
