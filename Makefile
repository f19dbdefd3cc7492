# Every target is a task of tools/do.py, which needs only Python >= 3.11.
PYTHON ?= $(shell command -v python3 || command -v python)
.PHONY: help install book test check chapter lab tamper clean

help:
	@$(PYTHON) tools/do.py --help

install book test check lab tamper clean:
	@$(PYTHON) tools/do.py $@

# make chapter CH=flow/end_to_end
chapter:
	@$(PYTHON) tools/do.py chapter $(CH)
