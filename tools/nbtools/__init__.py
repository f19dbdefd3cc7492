"""What ``tools/nb.py`` does: text view, execution, one byte form."""
