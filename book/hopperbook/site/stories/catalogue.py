"""The stories by name."""

from collections.abc import Callable, Iterable

from hopperbook.site.stories.story import Story, story_html


def _stories() -> dict[str, Callable[[], Story]]:
    """Return the function of each story; their models are imported on demand."""
    from hopperbook.site.stories import iobuf, milc, placement, striping

    return {"milc": milc.story, "placement": placement.story, "striping": striping.story, "iobuf": iobuf.story}


def story_names() -> Iterable[str]:
    """Return the names of the stories.

    Examples
    --------
    >>> "milc" in story_names()
    True
    """
    return _stories()


def story_of(name: str) -> str:
    """Return a story by its name, as HTML.

    Raises
    ------
    KeyError
        If there is none.
    """
    return story_html(name, _stories()[name]())
