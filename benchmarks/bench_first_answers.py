"""First live answers of all explorers of the built book (`make html`), beside a plain start of Pyodide in the same run.

``HOPPER_EXPLORERS="memory place"`` measures these alone: about twenty seconds each on two quiet cores. With
``jupyter-lite`` at hand, the page of memory is also opened beside a JupyterLite page that answers the same.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import jupyterlite_page
from benchmarks.side_by_side import Comparison
from hopperbook.site.stored_answers import STORED
from tests.book.site.marionette import FIREFOX, Firefox

HTML = Path(__file__).resolve().parent.parent / "_build" / "html"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome"))), None)
MOVES = 7

# What is wanted: of the plain start's time in the same run, and in seconds (first answer with an empty and a full cache,
# on a further page of a visit, a move) on a machine on which the plain start takes as long as this.
RATIO = 0.35
BUDGETS_S = (0.8, 0.5, 0.5, 0.05)
PLAIN_S = 2.6

# What a reader keeps who wants to see answers without predicting them.
OPEN = "localStorage.setItem('hopper.open', '{\"all\":true}')"

# Changes one setting of an explorer there and back, and returns how long each answer takes, the first with Python's start:
# until its charts are drawn, until its words stand, and until a heavy question shows its first picture.
ASK = """async ([name, moves, steps, two]) => {
  const box = document.querySelector(`.hopper-explorer[data-name="${name}"]`);
  const { spec, start } = JSON.parse(box.querySelector(":scope > script.hopper-data-block").textContent);
  const scale = spec.controls.find(({ kind, step }) => ["slider", "number"].includes(kind) && step);
  const choice = spec.controls.find(({ kind }) => kind === "choice");
  let other = spec.examples[0]?.values ?? {};
  if (scale) {
    const up = Number(start[scale.name]) + steps * scale.step;
    other = { [scale.name]: up <= scale.high ? up : up - 2 * steps * scale.step };
  }
  if (choice && (two || !scale)) {
    other = { ...(two ? other : {}), [choice.name]: choice.options.map(([key]) => key).find((key) => key !== start[choice.name]) };
  }
  const times = [];
  for (let i = 0; i < moves; i++) {
    const answered = new Promise((done) => box.addEventListener("hopper-answer", done, { once: true }));
    const begun = performance.now();
    let shown;
    box.addEventListener("hopper-so-far", () => (shown ??= performance.now()), { once: true });
    box.hopperSet(i % 2 ? start : { ...start, ...other });
    await Promise.race([answered, box.hopperSettled()]);
    const told = performance.now();
    // Until the charts are drawn, which come after the words.
    await box.hopperSettled();
    times.push([performance.now(), told, shown ?? told].map((now) => (now - begun) / 1000));
  }
  return times;
}"""


def _explorers() -> list[tuple[str, str]]:
    """Return page and name of every explorer of the book, once each."""
    from bs4 import BeautifulSoup

    pages: dict[str, str] = {}
    for path in sorted(HTML.glob("*/**/*.html")):
        for box in BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").select(".hopper-explorer"):
            pages.setdefault(str(box["data-name"]), path.relative_to(HTML).as_posix())
    if chosen := os.environ.get("HOPPER_EXPLORERS", "").split():
        if unknown := set(chosen) - set(pages):
            raise SystemExit(f"no explorer {', '.join(sorted(unknown))} in the book; there are: {', '.join(pages)}")
        return [(pages[name], name) for name in chosen]
    return [(page, name) for name, page in pages.items()]


class Times(NamedTuple):
    """How long an explorer took, either until its words stand or until its charts are drawn, and to a first picture. [s]"""

    cold: float
    warm: float
    further: float
    move: float
    plain: float
    first_picture: float

    def __str__(self) -> str:
        return (
            f"{self.cold:.2f} s cold, {self.warm:.2f} s warm, {self.further:.2f} s on a further page, "
            f"a move {1000 * self.move:.0f} ms"
        )


def _met(measured: Sequence[Times]) -> str:
    """Say how many explorers are within what is wanted, the times scaled by the plain start of this run."""
    scale = statistics.median(times.plain for times in measured) / PLAIN_S
    within = [sum(times[place] <= scale * budget for times in measured) for place, budget in enumerate(BUDGETS_S)]
    near = sum(times.cold <= RATIO * times.plain for times in measured)
    wanted = ", ".join(
        f"{count} within {1000 * scale * budget:.0f} ms {what}"
        for count, budget, what in zip(within, BUDGETS_S, ("cold", "warm", "on a further page", "a move"), strict=True)
    )
    return f"of {len(measured)}: {near} within {RATIO} of the plain start; with budgets times {scale:.1f}: {wanted}"


@contextmanager
def _without_memory() -> Iterator[Path]:
    """Give a copy of the book without the memory of Python and stored answers: there Python starts as it does everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        shutil.copytree(HTML, plain, ignore=shutil.ignore_patterns("*.memory", "*.answers"), copy_function=os.link)
        yield plain


@contextmanager
def _served(site: Path) -> Iterator[str]:
    """Serve a folder; give its address."""
    from hopperbook.serve import server_for

    with server_for(site, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


IN_FIREFOX = "memory"
STARTED = "performance.getEntriesByName('hopper: Python started')"


def _in_firefox() -> Comparison:
    """Time Python's start in Firefox, which knows no save-data: with the memory, and on a copy of the book without it."""
    page = next(path for path, name in _explorers() if name == IN_FIREFOX)
    starts_s = []
    with tempfile.TemporaryDirectory() as folder, _without_memory() as plain:
        for number, site in enumerate((HTML, plain)):
            profile = Path(folder) / str(number)
            profile.mkdir()
            with _served(site) as address, Firefox(profile) as browser:
                browser.open(f"{address}/{page}")
                browser.evaluate(f"document.querySelector('[data-name={IN_FIREFOX}]').scrollIntoView()")
                browser.wait(f"{STARTED}.length")
                starts_s.append(browser.evaluate(f"return {STARTED}[0].duration / 1000"))
    what = f"Python's start for {IN_FIREFOX} in Firefox, empty cache"
    return Comparison(what=what, ours_s=starts_s[0], peer="plain Pyodide", peer_s=starts_s[1])


def _beside_jupyterlite() -> Comparison:
    """Open the page of memory until it has answered a setting, and a JupyterLite page until it has answered the same."""
    from playwright.sync_api import sync_playwright

    from hopperkit.questions.question import load

    what = "from opening the page of memory to an answer, empty cache"
    peer = (
        "JupyterLite's console"
        if jupyterlite_page.TOOL
        else "JupyterLite: pip install -r benchmarks/requirements-peers.txt"
    )
    answer, seconds = load("memory").run(need_gb=2, tasks=384).summary, []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        lite = jupyterlite_page.build(Path(folder)) if jupyterlite_page.TOOL else None
        # It reaches this machine alone.
        alone = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=alone)
        for site in (HTML, lite) if lite else (HTML,):
            with _served(site) as address:
                context = browser.new_context()
                if site == lite:
                    seconds.append(jupyterlite_page.first_answer_s(context, address, answer))
                else:
                    page = context.new_page()
                    page.add_init_script(OPEN)
                    page.goto(f"{address}/notebooks/node/memory.html", wait_until="commit")
                    page.wait_for_selector("html.hopper-ready", state="attached")
                    page.evaluate(ASK, ["memory", 1, 1, False])
                    seconds.append(page.evaluate("performance.now() / 1000"))
                context.close()
    return Comparison(what=what, ours_s=seconds[0], peer=peer, peer_s=seconds[1] if lite else None)


def _row(what: str, drawn: Times, told: Times) -> Comparison:
    """Return the times of an explorer beside those of a plain start."""
    note = f"charts {drawn}; words {told}, {told.cold / told.plain:.2f} of the plain start; first picture {told.first_picture:.2f} s"
    return Comparison(what=what, ours_s=drawn.cold, peer="plain Pyodide", peer_s=drawn.plain, note=note)


def _simulated(browser: Any, address: str, name: str, plain_s: float) -> Comparison:
    """Time a setting of a heavy explorer whose answer is not stored: two controls moved, there and back."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(OPEN)
    page.goto(address)
    page.wait_for_selector("html.hopper-ready", state="attached")
    times = page.evaluate(ASK, [name, 1, 1, True])
    context.close()
    _, words_s, picture_s = times[0]
    note = f"words {words_s:.2f} s, {words_s / plain_s:.2f} of the plain start; first picture and words of it {picture_s:.2f} s"
    return Comparison(
        what=f"{name}, two controls moved", ours_s=words_s, peer="plain Pyodide", peer_s=plain_s, note=note
    )


def measure() -> list[Comparison]:
    """Time the first answer of every explorer, with an empty and a full cache and on a further page, and the moves after it."""
    from playwright.sync_api import sync_playwright

    rows: list[Comparison] = []
    # Until the charts are drawn, and until the words stand.
    measured: tuple[list[Times], list[Times]] = ([], [])
    with _without_memory() as plain, _served(HTML) as ours, _served(plain) as peer, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM)
        for path, name in _explorers():
            answers: dict[str, list[list[float]]] = {}
            for address, tabs in ((ours, (("cold", "further"), ("warm",))), (peer, (("plain",),))):
                context = browser.new_context()
                for tab in tabs:
                    page = context.new_page()
                    page.add_init_script(OPEN)
                    # Python starts at the first move, not before.
                    page.add_init_script(
                        "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
                    )
                    for kind in tab:
                        page.goto(f"{address}/{path}?{kind}")
                        page.wait_for_selector("html.hopper-ready", state="attached")
                        # On the further page another setting: what the first asked for may be known there.
                        asked = [name, 1 if kind == "plain" else MOVES, 2 if kind == "further" else 1, False]
                        answers[kind] = page.evaluate(ASK, asked)
                    page.close()
                with suppress(Exception):
                    context.close()
            moves = [times for kind in ("cold", "further", "warm") for times in answers[kind][1:]]
            for place, column in enumerate(measured):
                first = {kind: times[0][place] for kind, times in answers.items()}
                # The further page's, where Python runs already.
                picture = answers["further"][0][2]
                move = statistics.median(times[place] for times in moves)
                column.append(Times(**first, move=move, first_picture=picture))
            rows.append(_row(f"{name}, first answer", measured[0][-1], measured[1][-1]))
            if name in STORED:
                rows.append(_simulated(browser, f"{ours}/{path}", name, measured[1][-1].plain))
    drawn, told = (Times(*map(statistics.median, zip(*column, strict=True))) for column in measured)
    summary = _row(f"median of {len(measured[0])} explorers", drawn, told)
    met = "; ".join(f"{what}: {_met(column)}" for what, column in zip(("charts", "words"), measured, strict=True))
    rows.append(replace(summary, note=f"{summary.note}; {met}"))
    if "HOPPER_EXPLORERS" in os.environ:
        return rows
    return [*rows, *([_in_firefox()] if FIREFOX else []), _beside_jupyterlite()]
