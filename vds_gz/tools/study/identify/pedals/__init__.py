"""Identification of the maps of accelerator and brake."""
