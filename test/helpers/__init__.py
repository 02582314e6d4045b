"""What tests of several folders share: processes, graphs, worlds, recordings."""
