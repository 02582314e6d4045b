"""What is likely wrong with a recording, seen before anything is fitted."""
