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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks import jupyterlite_page
from benchmarks.side_by_side import Comparison
from tests.site.marionette import FIREFOX, Firefox

HTML = Path(__file__).resolve().parent.parent / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MOVES = 7

# What is wanted: of the plain start's time in the same run, and in seconds (first answer with an empty and a full cache,
# on a further page of a visit, a move) on a machine on which the plain start takes as long as this.
RATIO = 0.35
BUDGETS_S = (0.8, 0.5, 0.5, 0.05)
PLAIN_S = 2.6

# Changes one setting of an explorer there and back, and returns how long each answer takes, the first with Python's start.
ASK = """async ([name, moves]) => {
  const box = document.querySelector(`.hopper-explorer[data-name="${name}"]`);
  const { spec, start } = JSON.parse(box.querySelector(":scope > script.hopper-data-block").textContent);
  const scale = spec.controls.find(({ kind, step }) => ["slider", "number"].includes(kind) && step);
  const choice = spec.controls.find(({ kind }) => kind === "choice");
  let other = spec.examples[0]?.values ?? {};
  if (scale) {
    const up = Number(start[scale.name]) + scale.step;
    other = { [scale.name]: up <= scale.high ? up : up - 2 * scale.step };
  } else if (choice) {
    other = { [choice.name]: choice.options.map(([key]) => key).find((key) => key !== start[choice.name]) };
  }
  const times = [];
  for (let i = 0; i < moves; i++) {
    const answered = new Promise((done) => box.addEventListener("hopper-answer", done, { once: true }));
    const begun = performance.now();
    box.hopperSet(i % 2 ? start : { ...start, ...other });
    await Promise.race([answered, box.hopperSettled()]);
    // Until the charts are drawn, which come after the words.
    await box.hopperSettled();
    times.push((performance.now() - begun) / 1000);
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


def _met(measured: list[tuple[float, ...]]) -> str:
    """Say how many explorers are within what is wanted, the times scaled by the plain start of this run."""
    scale = statistics.median(plain for *_, plain in measured) / PLAIN_S
    within = [sum(times[place] <= scale * budget for times in measured) for place, budget in enumerate(BUDGETS_S)]
    near = sum(cold <= RATIO * plain for cold, *_, plain in measured)
    wanted = ", ".join(
        f"{count} within {1000 * scale * budget:.0f} ms {what}"
        for count, budget, what in zip(within, BUDGETS_S, ("cold", "warm", "on a further page", "a move"), strict=True)
    )
    return f"of {len(measured)}: {near} within {RATIO} of the plain start; with budgets times {scale:.1f}: {wanted}"


@contextmanager
def _without_memory() -> Iterator[Path]:
    """Give a copy of the book without the memory of Python: there it starts as it does everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        shutil.copytree(HTML, plain, ignore=shutil.ignore_patterns("*.memory"), copy_function=os.link)
        yield plain


@contextmanager
def _served(site: Path) -> Iterator[str]:
    """Serve a folder; give its address."""
    from hopperlib.site.serve import server_for

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

    from hopperlib.questions.question import load

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
                    page.goto(f"{address}/notebooks/node/memory.html", wait_until="commit")
                    page.wait_for_selector("html.hopper-ready", state="attached")
                    page.evaluate(ASK, ["memory", 1])
                    seconds.append(page.evaluate("performance.now() / 1000"))
                context.close()
    return Comparison(what=what, ours_s=seconds[0], peer=peer, peer_s=seconds[1] if lite else None)


def _others(_cold_s: float, warm_s: float, further_s: float, move_s: float, _peer_s: float) -> str:
    """Say the times of an explorer that have no column."""
    return f"with a warm cache {warm_s:.2f} s; on a further page {further_s:.2f} s; a move {1000 * move_s:.0f} ms in the median"


def measure() -> list[Comparison]:
    """Time the first answer of every explorer, with an empty and a full cache and on a further page, and the moves after it."""
    from playwright.sync_api import sync_playwright

    rows, medians = [], []
    with _without_memory() as plain, _served(HTML) as ours, _served(plain) as peer, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM)

        def times(context: Any, address: str, visits: int, moves: int) -> list[list[float]]:
            page = context.new_page()
            # Python starts at the first move, not before.
            page.add_init_script("Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
            measured: list[list[float]] = []
            for visit in range(visits):
                page.goto(f"{address}?{visit}")
                page.wait_for_selector("html.hopper-ready", state="attached")
                measured.append(page.evaluate(ASK, [name, moves]))
            page.close()
            return measured

        for path, name in _explorers():
            context = browser.new_context()
            (cold, further), (warm,) = (times(context, f"{ours}/{path}", visits, MOVES) for visits in (2, 1))
            with suppress(Exception):
                context.close()
            context = browser.new_context()
            ((peer_s,),) = times(context, f"{peer}/{path}", 1, 1)
            with suppress(Exception):
                context.close()
            move = statistics.median(cold[1:] + further[1:] + warm[1:])
            medians.append((cold[0], warm[0], further[0], move, peer_s))
            rows.append(
                Comparison(
                    what=f"{name}, first answer",
                    ours_s=cold[0],
                    peer="plain Pyodide",
                    peer_s=peer_s,
                    note=_others(*medians[-1]),
                )
            )
    cold_s, warm_s, further_s, move_s, peer_s = (statistics.median(column) for column in zip(*medians, strict=True))
    note = f"{_others(cold_s, warm_s, further_s, move_s, peer_s)}; {_met(medians)}"
    rows.append(
        Comparison(
            what=f"median of {len(medians)} explorers", ours_s=cold_s, peer="plain Pyodide", peer_s=peer_s, note=note
        )
    )
    if "HOPPER_EXPLORERS" in os.environ:
        return rows
    return [*rows, *([_in_firefox()] if FIREFOX else []), _beside_jupyterlite()]
