"""The torus: wiring, distances, node orders, and the compactness of an allocation."""
