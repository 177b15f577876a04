"""The torus: wiring, distances, node orders, and how compact an allocation lies."""
