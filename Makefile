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
# Nothing is written below ~/.ansible: sockets go to the cache, and local tasks need no temporary directory.
export ANSIBLE_HOME := $(CACHE)/ansible
export ANSIBLE_SSH_CONTROL_PATH_DIR := $(CACHE)/ansible/cp
export ANSIBLE_PIPELINING := true
export ANSIBLE_CONFIG := $(ROOT)/ansible.cfg

.PHONY: help
help: ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(ROOT)/Makefile

.PHONY: tools
tools: $(TOOLS)/.ready ## Install the Debian packages and the Python tools that everything else uses

$(TOOLS)/.ready: tests/requirements.txt tests/bootstrap
	@tests/bootstrap $(TOOLS)

.PHONY: demo
demo: tools ## Boot the test hosts, run site.yml on them with the real SGLang, and ask the endpoint
	@tests/demo

.PHONY: check
check: tools ## The fast checks: lint, types, unit tests (under 3 minutes)
	@tests/check

.PHONY: artifact
artifact: tools ## Build the collection, install it elsewhere, and check it there: contents, ansible-test sanity, a smoke play
	@tests/artifact/run

.PHONY: molecule
molecule: tools ## Run every molecule scenario on real hosts, or one: make molecule SCENARIO=crash
	@tests/scenarios $(SCENARIO)

.PHONY: test
test: check artifact molecule ## Everything that checks the project

.PHONY: bench
bench: tools ## Measure against what a user would run instead: make bench NAME=detection
	@test -n "$(NAME)" || { echo "Say which: make bench NAME=<one of: $$(cd benchmarks && ls -d */ 2>/dev/null | tr -d /)>"; exit 2; }
	@PYTHONPATH=$(ROOT)/collections:$(ROOT)/tests python3 -m benchmarks.$(NAME)

.PHONY: clean
clean: ## Remove every host, namespace, bridge and process of the lab, also after an aborted run; caches stay
	@tests/clean

.PHONY: print-tools
print-tools:
	@echo $(TOOLS)
