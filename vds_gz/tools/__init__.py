"""What works without a running node: fleets, studies, adopted robots, and the check of extensions."""
