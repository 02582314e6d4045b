"""The forward model: what sensors would have read of a vehicle that had been sent a recording's commands."""
