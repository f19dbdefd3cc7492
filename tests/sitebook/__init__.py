"""A small book on which the checks of the built site are tried."""
