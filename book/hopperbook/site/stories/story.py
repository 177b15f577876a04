"""A figure that the reader scrolls through: steps of a text and a picture each.

Without a script, on paper and in a file the steps are shown in sequence. On a live page the pictures share one place
next to the texts, and ``browser/story.mjs`` shows the one for the text being read.
"""

from html import escape
from typing import NamedTuple

from hopperkit.render.html import badge_html, prose_html

# : With this number of steps, one step is at most this fraction of a screen high, so that no story is longer than 12
# screens.
MOST_STEPS = 14


class Step(NamedTuple):
    """One picture of a story, and its explanation.

    Parameters
    ----------
    title : str
    text : str
        Plain text; text between backticks is code, and an empty line begins a paragraph.
    svg : str
        The picture, which names and describes itself.
    badges : tuple of str
        Where its numbers come from: documented, calibrated, predicted, assumed.
    after : str
        HTML below the text, such as a form, which has a separate script.
    """

    title: str
    text: str
    svg: str
    badges: tuple[str, ...]
    after: str = ""


class Story(NamedTuple):
    """Steps with a title."""

    title: str
    steps: tuple[Step, ...]


def _step_html(name: str, number: int, count: int, step: Step) -> str:
    """Return one step."""
    paragraphs = "".join(f"<p>{prose_html(paragraph)}</p>" for paragraph in step.text.split("\n\n"))
    badges = " ".join(map(badge_html, step.badges))
    return (
        f'<div class="hopper-story-step{" hopper-now" if number == 1 else ""}">'
        f'<div class="hopper-story-text" id="story-{name}-{number}"><p class="hopper-story-number">{number} of {count}</p>'
        f"<h4>{escape(step.title)}</h4>{paragraphs}{step.after}</div>"
        f'<div class="hopper-story-picture">{step.svg}<p class="hopper-story-badges">{badges}</p></div></div>'
    )


def story_html(name: str, story: Story) -> str:
    """Return a story as HTML.

    Raises
    ------
    ValueError
        If it has more steps than a page has room for.

    Examples
    --------
    >>> story = Story("Two boxes", (Step("One", "A `box`.", "<svg></svg>", ("predicted",)),))
    >>> "<h4>One</h4><p>A <code>box</code>.</p>" in story_html("boxes", story)
    True
    """
    count = len(story.steps)
    if not 1 <= count <= MOST_STEPS:
        raise ValueError(f"story {name} has {count} steps; it must have 1 to {MOST_STEPS}")
    steps = "".join(_step_html(name, number, count, step) for number, step in enumerate(story.steps, start=1))
    return (
        f'<section class="hopper-story" data-story="{name}" aria-labelledby="story-{name}"><h3 class="hopper-story-title" id="story-{name}">{escape(story.title)}</h3>{steps}'
        '<div class="hopper-story-bar hopper-live-only"><button type="button" class="hopper-button" data-by="-1">Back</button>'
        f'<output aria-live="off">1 of {count}</output>'
        '<button type="button" class="hopper-button" data-by="1">Next</button></div></section>'
    )
