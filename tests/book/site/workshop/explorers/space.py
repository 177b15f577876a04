"""An explorer with a chart in three dimensions."""

from __future__ import annotations

from hopperlib.questions.controls import Slider
from hopperlib.questions.question import Question
from hopperlib.questions.result import Column, Figure, Result, Table


def answer(size: int) -> Result:
    points = [(x, y, z) for x in range(size) for y in range(size) for z in range(size)]
    xs, ys, zs = map(list, zip(*points, strict=True))
    scene = {f"{name}axis": {"title": {"text": name}, "range": [-1, size]} for name in "xyz"}
    return Result(
        summary=f"A cube of {size} has {len(points)} points.",
        figures=(
            Figure(
                title="Points of a cube",
                alt=f"A cube of {size} by {size} by {size} points in space.",
                data=[
                    {
                        "type": "scatter3d",
                        "mode": "markers",
                        "x": xs,
                        "y": ys,
                        "z": zs,
                        "name": "points",
                        "marker": {"size": 3, "color": "#0072B2", "symbol": "circle"},
                    }
                ],
                layout={"height": 360, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}, "scene": scene},
                table=Table(caption="Points", columns=tuple(Column(title=name) for name in "xyz"), rows=points),
                bundle="gl3d",
            ),
        ),
    )


QUESTION = Question(
    name="space",
    title="Space",
    question="How many points has a cube?",
    controls=(Slider(name="size", label="Size", low=2, high=6, step=1, default=3),),
    answer=answer,
)
