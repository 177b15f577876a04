"""The page of the diagnosis, as a reader uses it: paste, choose, drop; and data that never leave the browser."""

from __future__ import annotations

import gzip

from playwright.sync_api import expect

PAGE = "notebooks/failure/diagnosis.html"
SECRET = "codeword7261"
LOG = f"""step 1 of {SECRET}
<img src="http://elsewhere.invalid/{SECRET}.png" onerror="document.title='run'"> error: <b>bold</b> failed
<script>document.title = "run"</script>
srun: error: nid004021: task 5: Out Of Memory
slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4231907.0.
"""


def diagnosis(page):
    return page.locator("#explorer-diagnose")


def log_field(page):
    return diagnosis(page).get_by_label("Output of the job")


def summary(page):
    return diagnosis(page).locator(".hopper-summary")


def marked(page, mark):
    return diagnosis(page).locator(".hopper-listing li", has=page.locator(".hopper-mark", has_text=mark))


def test_a_log_is_read_in_the_page_and_goes_nowhere(watch, site_url, served, tmp_path):
    watched = watch(site_url, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = watched.go(PAGE)
    title = page.title()
    log_field(page).fill("all is well\n")
    expect(summary(page)).to_contain_text("Nothing in this text shows that the job failed")
    # Python runs now: from here on the page asks for nothing more, of any host.
    asked = len(watched.requests)
    del served[:]

    log_field(page).fill(LOG)
    expect(summary(page)).to_contain_text("SLURM-OOM")
    expect(marked(page, "cause").first).to_contain_text("task 5: Out Of Memory")
    # Markup in a log is text, in the listing and in the tables.
    listing = diagnosis(page).locator(".hopper-listing")
    expect(listing).to_contain_text('<script>document.title = "run"</script>')
    expect(diagnosis(page).locator(".hopper-answer img, .hopper-answer script, .hopper-listing b")).to_have_count(0)
    assert page.title() == title

    # The whole of a large file, and one that is packed.
    large = tmp_path / "job.out"
    noise = "".join(f"[{rank}] ERROR - replaying failed transaction {rank * 7}\n" for rank in range(20_000))
    large.write_text(noise + "Disk quota exceeded\n")
    chooser = diagnosis(page).locator('[data-control="log"] input[type="file"]')
    chooser.set_input_files(large)
    expect(summary(page)).to_contain_text("IO-QUOTA, output:20001")
    # The line of the cause is in sight in its box, however far down it stands.
    box = listing.locator(".hopper-scroll").bounding_box()
    line = marked(page, "cause").first.bounding_box()
    assert box["y"] <= line["y"]
    assert line["y"] + line["height"] <= box["y"] + box["height"] + 1
    packed = tmp_path / "job.err.gz"
    packed.write_bytes(gzip.compress(b"./a.out: symbol lookup error: ./a.out: undefined symbol: deep_\n"))
    chooser.set_input_files(packed)
    expect(summary(page)).to_contain_text("LIB-SYMBOL, output:1")

    # Dropped, and pasted: more than a field would take at once.
    for act in (
        """(field, text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "job.err"));
          field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        """(field, text) => {
          const data = new DataTransfer();
          data.setData("text/plain", "quiet line\\n".repeat(10_000) + text);
          field.select();
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
    ):
        log_field(page).fill("")
        expect(summary(page)).to_contain_text("0 lines read")
        log_field(page).evaluate(act, LOG)
        expect(summary(page)).to_contain_text("SLURM-OOM")

    assert watched.requests[asked:] == served == []
    assert SECRET not in page.url
    assert SECRET not in page.evaluate("JSON.stringify({ ...localStorage, ...sessionStorage })")
    watched.assert_clean()


def test_the_diagnosis_works_by_keyboard_on_a_phone(watch, site_url):
    watched = watch(site_url, viewport={"width": 375, "height": 800}, reduced_motion="reduce")
    page = watched.go(PAGE)
    # From the example before it, the field is one key away; its text is replaced as at any desk.
    field = log_field(page)
    diagnosis(page).get_by_role("button").first.focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        if field.evaluate("(element) => element === document.activeElement"):
            break
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("=>> PBS: job killed: walltime 3633 exceeded limit 3600\n")
    expect(summary(page)).to_contain_text("PBS-WALLTIME")
    # Nothing is wider than the screen, and the lines can be reached and scrolled.
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    lines = diagnosis(page).locator(".hopper-listing .hopper-scroll").first
    lines.focus()
    expect(lines).to_be_focused()
    expect(marked(page, "cause")).to_have_count(1)
    watched.assert_clean()
