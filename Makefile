# swarm: a plugin-based host for workers. `make help` lists the targets.

SHELL   := /bin/bash
GO      ?= go
TOOL    := $(GO) tool -modfile=.ci/tools/go.mod
TAGS    := grpcnotrace
LDFLAGS := -s -w
# Static binaries start a millisecond sooner.
export CGO_ENABLED := 0
# The race detector, for all but the database: SQLite is translated from C, and a call of it takes
# six times as long under the detector.
RACE    := -race -gcflags modernc.org/...=-race=false
# Which packages' tests run with it: none, those that have changed, or all. Unless it is none, some
# scripts run again with programs that have it.
DETECT  ?=
# Packages whose tests run at the same time: more than there are processors, as many wait.
AT_ONCE ?= -p $$(( 2 * $$(getconf _NPROCESSORS_ONLN) ))
# SLOW=yes is for machines that start programs slowly, where tests that run at the same time cost each
# other their time: packages and scripts run one after the other, what has failed is repeated once and
# alone, and no scripts run a second time with the race detector.
SLOW    ?=
export SWARM_TEST_SLOW := $(SLOW)
# Each program built with -race sleeps for a second before it ends, and tests run many.
export GORACE := atexit_sleep_ms=20
BUILD   := -trimpath -tags $(TAGS) -ldflags "$(LDFLAGS)"

.PHONY: build install demo example examples test test-packages test-scripts test-nomad test-container test-ssh test-vm test-power test-web test-typescript test-agents check lint tidy generated api darwin generate commands house bench screenshots clean help
.DEFAULT_GOAL := build

build: ## build swarm, its shim, its plugins and its servers into ./bin
	$(GO) build $(BUILD) -o bin/ ./cmd/...
	@.ci/links bin

install: ## install all of them side by side into GOBIN
	$(GO) install $(BUILD) ./cmd/...
	@bin=$$($(GO) env GOBIN); bin=$${bin:-$$($(GO) env GOPATH)/bin}; .ci/links "$$bin"; echo "installed into $$bin"; \
	  case ":$$PATH:" in *":$$bin:"*) ;; *) echo "add it to your PATH: export PATH=\"$$bin:\$$PATH\"";; esac

demo: ## install what is missing, build, and run the main job in a scratch directory
	@.ci/setup git tmux
	@$(MAKE) --no-print-directory build
	@.ci/demo bin

example: ## build, and run the team of docs/teams.md in a scratch directory
	@.ci/setup tmux
	@$(MAKE) --no-print-directory build
	@docs/example-team/run bin

examples: ## build, test and use the plugins in docs/examples that are in Go or Python, as their authors would
	@.ci/setup make git python-grpc
	@$(MAKE) --no-print-directory build
	@.ci/examples bin

test: ## install what is missing, then run all tests; DETECT=changed or =all adds the race detector
	@.ci/setup git tmux cc less vim jq bash mandoc bwrap strace node dlv minisign
	@skips=$$(mktemp) && trap 'rm -f "$$skips"' EXIT && export SWARM_TEST_SKIPS="$$skips"; \
	  $(MAKE) --no-print-directory -k $(if $(SLOW),-j1,-j2) test-packages test-scripts; code=$$?; sort -u "$$skips"; exit $$code

# A short run leaves out what only repeats another test. What is linted is vetted then.
SHORT   := $(if $(filter all,$(DETECT)),,-short) $(if $(DETECT),-vet=off)
FLAGS   := $(AT_ONCE) -ldflags "$(LDFLAGS)" -tags $(TAGS) -timeout 80m

ifdef SLOW
gotest = $(TOOL) gotestsum --format pkgname --rerun-fails=1 --rerun-fails-max-failures=20 --packages "$(1)" -- $(2)
else
gotest = $(GO) test $(2) $(1)
endif

test-packages: # all packages but cmd/swarm
	@raced=$$(.ci/packages raced $(DETECT)) && others=$$(.ci/packages others $(DETECT)) && code=0; \
	  if [ -n "$$raced" ]; then echo "with the race detector: $$(wc -w <<<"$$raced") packages"; \
	    CGO_ENABLED=1 $(call gotest,$$raced,$(RACE) -vet=off $(FLAGS)) || code=1; fi; \
	  if [ -n "$$others" ]; then $(call gotest,$$others,-trimpath $(SHORT) $(FLAGS)) || code=1; fi; exit $$code

# Scripts run programs, so they are built as programs are.
test-scripts: # the scripts of cmd/swarm, and a part of them with programs that have the race detector
	$(call gotest,./cmd/swarm,-trimpath $(SHORT) -ldflags "$(LDFLAGS)" -tags $(TAGS) -timeout 80m)
	$(if $(DETECT),$(if $(SLOW),,SWARM_TEST_RACE=1 $(call gotest,./cmd/swarm,-trimpath -vet=off -ldflags "$(LDFLAGS)" -tags $(TAGS) -timeout 80m -run '^TestScript$$')))

test-nomad: ## build a Nomad agent once, and test workers on a cluster with it
	@.ci/setup cc
	@agent=$$(.ci/nomad) && export SWARM_TEST_NOMAD="$$agent" && \
	  $(call gotest,./plugins/nomad/...,-tags "$(TAGS) nomad" -timeout 30m) && \
	  $(call gotest,./cmd/swarm,-tags "$(TAGS) nomad" -timeout 30m -run TestNomad)

test-container: ## test workers in containers with Docker and Podman, as root
	@.ci/setup git tmux dockerd podman runc busybox
	@export CGO_ENABLED=0; $(call gotest,./plugins/container/...,-tags "$(TAGS) container" -timeout 40m) && \
	  $(call gotest,./cmd/swarm,-tags "$(TAGS) container" -timeout 15m -run TestContainer)

test-ssh: ## test workers on hosts that are reached by ssh, with real ssh servers
	@.ci/setup git tmux sshd
	@CGO_ENABLED=0 $(GO) test -tags "$(TAGS) ssh" -timeout 20m ./plugins/ssh/... && \
	  CGO_ENABLED=0 $(GO) test -tags "$(TAGS) ssh" -timeout 15m ./cmd/swarm -run TestSSH

test-vm: ## test what needs a machine of its own, in qemu, as root: a loss of power, a reboot
	@.ci/setup qemu-system-x86_64 qemu-img debootstrap mke2fs
	@machine=$$(.ci/vm) && export SWARM_TEST_VM="$$machine" && \
	  CGO_ENABLED=0 $(GO) test -tags "$(TAGS) vm" -count 1 -timeout 15m ./cmd/swarm -run TestVM -v

test-power: ## cut a file system at random points below swarm, as root, and look what is left
	@.ci/setup git mke2fs
	@CGO_ENABLED=0 $(GO) test -trimpath -tags "$(TAGS) power" -ldflags "$(LDFLAGS)" -count 1 -timeout 15m ./cmd/swarm -run '^TestPower$$' -v

test-web: ## test the pages of swarm web in Chromium
	@.ci/setup git tmux chromium
	@CGO_ENABLED=0 $(GO) test -tags "$(TAGS) web" -timeout 15m ./cmd/swarm-serve/internal/webserver

test-typescript: ## build, test and use the plugins in TypeScript and their SDK, as authors do
	@.ci/setup make node npm
	@$(MAKE) --no-print-directory build
	@.ci/examples bin backend-typescript tools-typescript sdk-typescript

SWARM_TEST_AGENTS ?= claude codex
# The agents are programs of others, whose timing is not ours: a case that fails is repeated
# once. What was repeated is printed; more than three failures are one of swarm.
AGAIN   := --format pkgname --rerun-fails=1 --rerun-fails-max-failures=3
export SWARM_TEST_AGENTS

VERSIONS ?= pinned

test-agents: ## install real coding agents from npm once, and test them as workers; VERSIONS=newest tells what drifted
	@.ci/setup git tmux npm
ifeq ($(VERSIONS),newest)
	@TAGS="$(TAGS)" CGO_ENABLED=0 GO_TEST="$(TOOL) gotestsum --format pkgname --rerun-fails=1 --rerun-fails-max-failures=30" \
	  .ci/drift $(SWARM_TEST_AGENTS)
else
	@dir=$$(.ci/agents $(sort $(SWARM_TEST_AGENTS) claude codex gemini)) && export SWARM_TEST_AGENTS_DIR="$$dir" && \
	  CGO_ENABLED=0 $(TOOL) gotestsum $(AGAIN) --packages ./cmd/swarm -- -tags "$(TAGS) agents" -count 1 -timeout 60m -run TestAgents
endif

check: export DETECT := changed
check: lint generated api tidy darwin test ## all that CI checks; DETECT=all has the race detector everywhere
	@.ci/packages passed

lint: ## golangci-lint, with the layer rules of the design
	$(TOOL) golangci-lint run ./... ./.ci/bench/... ./.ci/commands/... ./.ci/house/... ./.ci/shots/...

generated: ## the generated code and pages are current, and the protocol stays compatible
	.ci/generate --check
	.ci/breaking

api: ## compare what the promised packages export with docs/api; UPDATE=yes writes it down
	@cd .ci/api && $(GO) run . -root ../.. $(if $(UPDATE),-update)

tidy: ## go.mod and go.sum are tidy, and the repository holds no large file
	$(GO) mod tidy -diff
	@git ls-tree -r -l HEAD | awk '$$4 > 1048576 { print $$5 " is larger than 1 MiB: it does not belong in the repository"; bad = 1 } END { exit bad }'

darwin: ## the code compiles for darwin
	GOOS=darwin $(GO) vet -tags $(TAGS) ./...

commands: ## write docs/commands and README's table of commands from the help
	@$(GO) run ./.ci/commands

generate: ## write the generated code and pages again
	.ci/generate

house: ## measure how easy the code is to read, next to the goals; -v in ARGS names each place
	@$(GO) run ./.ci/house $(ARGS)

bench: ## measure against the floor and peers, side by side in one run
	@.ci/setup git tmux
	@$(GO) run ./.ci/bench

screenshots: build ## make the pictures in docs/images from the running programs
	@.ci/setup git tmux chromium
	@.ci/screenshots bin

clean: ## remove what build made
	rm -rf bin

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
