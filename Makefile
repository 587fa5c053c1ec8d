# Every command a developer needs; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
CACHE := $(HOME)/.cache/inferops-lab
# One tool environment per content of the lock file and Python version.
TOOLS_ID := $(shell { cat $(ROOT)/tests/requirements.txt; python3 --version; } | sha256sum | cut -c1-12)
TOOLS := $(CACHE)/tools/$(TOOLS_ID)
export PATH := $(TOOLS)/bin:$(PATH)
export PYTHONPATH := $(ROOT)/tests
export PYTHONDONTWRITEBYTECODE := 1
export ANSIBLE_CONFIG := $(ROOT)/ansible.cfg
export ANSIBLE_HOME := $(CACHE)/ansible

.PHONY: help
help: ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(ROOT)/Makefile

.PHONY: tools
tools: $(TOOLS)/.ready ## Install the Debian packages and the Python tools that everything else uses

$(TOOLS)/.ready: tests/requirements.txt tests/bootstrap
	@tests/bootstrap $(TOOLS)

.PHONY: print-tools
print-tools:
	@echo $(TOOLS)
