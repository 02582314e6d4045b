"""The fit of a whole vehicle: where to begin, which limits and variants hold, and what was found."""
