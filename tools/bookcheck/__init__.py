"""The gates that keep the book true: plain functions on files."""
