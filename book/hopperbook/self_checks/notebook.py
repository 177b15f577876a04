"""How a notebook shows a self-check: a form in JupyterLab, and the question, which stays."""

from hopperbook.self_checks.check import Check
from hopperkit.render.html import prose_html
from hopperkit.render.widgets import is_live, missing_note, missing_packages, show_live
from hopperkit.render.widgets.answer import titled_html
from hopperkit.render.widgets.saved import marked, publish


def show_check(check: Check) -> None:
    """Show a self-check: its form, and the question, which stays.

    Parameters
    ----------
    check : hopperbook.self_checks.Check
    """
    note = f"<p>{prose_html(missing_note())}</p>" if missing_packages() else ""
    text = f"Self-check: {check.question}"
    if is_live():
        from hopperbook.self_checks.form import CheckView

        show_live(CheckView(check).root, text)
    html = marked(f"<p>{titled_html('Self-check', check.question)}</p>{note}")
    publish({"text/html": html, "text/plain": text})
