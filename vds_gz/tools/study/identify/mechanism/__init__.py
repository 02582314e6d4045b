"""Identification of a mechanical steering."""
