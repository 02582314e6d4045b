"""Controllers that follow a path: each a group of parameters, coefficients, and a function that runs in lanes."""
