"""What runs: nodes with their topics, recordings and commands, the live page, and launch files."""
