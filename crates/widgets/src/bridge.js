// The bridge between a widget and its host, as window.FrontMcpBridge.
(function () {
  'use strict';
  var options = __OPTIONS__;
  if (window.FrontMcpBridge) return;

  var HANDSHAKE = 10000;
  var toolName = window.__mcpToolName || 'widget';
  var adapter = choose();
  var host = null;
  var next = 0;
  var unkept = false;
  var waiting = new Map();
  var handlers = new Map();
  var listeners = { context: new Set(), result: new Set(), metadata: new Set() };
  var known = {
    initialized: false,
    capabilities: {},
    context: {},
    input: window.__mcpToolInput || {},
    output: window.__mcpToolOutput || null,
    structured: window.__mcpStructuredContent || null,
    metadata: null,
    state: stored(),
  };

  /** The first of the adapters asked for that can be used here. */
  function choose() {
    for (var name of options.adapters) {
      if (name === 'openai' && window.openai && typeof window.openai.callTool === 'function') return name;
      if (name === 'ext-apps' && window.parent !== window) return name;
      if (name === 'generic') return name;
    }
    return 'generic';
  }

  function stored() {
    try {
      return JSON.parse(localStorage.getItem('frontmcp:widget:' + toolName) || '{}');
    } catch {
      return {};
    }
  }

  function emit(name, detail, target) {
    (target || window).dispatchEvent(new CustomEvent(name, { detail: detail, bubbles: !!target }));
  }

  /** The host keeps it where it can; a frame without an origin has no other place. */
  function keep() {
    if (adapter !== 'ext-apps') return;
    if (known.initialized) post({ method: 'ui/notifications/widget-state', params: { state: known.state } });
    else unkept = true;
  }

  /** Whether a message is from the host. Nobody but the parent is, and its origin never changes. */
  function isHost(event) {
    if (event.source !== window.parent || window.parent === window) return false;
    var allowed = options.trustedOrigins;
    if (allowed.length > 0) return allowed.indexOf(event.origin) >= 0;
    if (host === null) host = event.origin;
    return host === event.origin;
  }

  /** Where a message may be delivered: known origins alone, one by one; else to whoever framed us. */
  function post(message) {
    message.jsonrpc = '2.0';
    if (options.trustedOrigins.length === 0) return window.parent.postMessage(message, host && host !== 'null' ? host : '*');
    for (var origin of options.trustedOrigins) window.parent.postMessage(message, origin);
  }

  function request(method, params, limit) {
    return new Promise(function (resolve, reject) {
      var id = ++next;
      var timer = limit && setTimeout(function () {
        waiting.delete(id);
        reject(new Error('Request ' + method + ' timed out'));
      }, limit);
      waiting.set(id, { resolve: resolve, reject: reject, timer: timer });
      post({ id: id, method: method, params: params });
    });
  }

  function ask(method, params) {
    if (adapter !== 'ext-apps') return Promise.reject(new Error(method + ' needs a host'));
    if (!known.initialized) return Promise.reject(new Error('Not initialized'));
    return request(method, params);
  }

  function unless(capability, text, method, params) {
    return hasCapability(capability) ? ask(method, params) : Promise.reject(new Error(text));
  }

  function hasCapability(name) {
    return !!known.capabilities[name];
  }

  function settle(message) {
    var open = waiting.get(message.id);
    if (!open) return;
    waiting.delete(message.id);
    clearTimeout(open.timer);
    if (message.error) open.reject(new Error(message.error.message + ' (code: ' + message.error.code + ')'));
    else open.resolve(message.result);
  }

  function answer(id, result) {
    post({ id: id, result: result });
  }

  function refuse(id, code, message) {
    post({ id: id, error: { code: code, message: message } });
  }

  /** What a handler gave back, as the result of a tool. */
  function asResult(value) {
    if (value && Array.isArray(value.content)) return value;
    var text = typeof value === 'string' ? value : JSON.stringify(value === undefined ? null : value);
    var result = { content: [{ type: 'text', text: text }] };
    if (value && typeof value === 'object' && !Array.isArray(value)) result.structuredContent = value;
    return result;
  }

  function called(id, name, args) {
    var tool = handlers.get(name);
    if (!tool) return refuse(id, -32601, 'Tool ' + name + ' not found');
    var done = function (value) { answer(id, asResult(value)); };
    var failed = function (error) {
      answer(id, { content: [{ type: 'text', text: String((error && error.message) || error) }], isError: true });
    };
    if (tool.handler) {
      Promise.resolve().then(function () { return tool.handler(args); }).then(done, failed);
      return;
    }
    // Whoever prevents the default answers, now or later.
    var detail = { name: name, arguments: args, respond: done, reject: failed };
    var claimed = !window.dispatchEvent(new CustomEvent('widget-tool:call', { detail: detail, cancelable: true }));
    if (!claimed) refuse(id, -32601, 'Nobody answers for the tool ' + name);
  }

  function asked(message) {
    var params = message.params || {};
    switch (message.method) {
      case 'ping': return answer(message.id, {});
      case 'tools/list': return answer(message.id, { tools: Array.from(handlers.values(), function (it) { return it.listed; }) });
      case 'tools/call': return called(message.id, params.name, params.arguments || {});
      case 'ui/resource-teardown':
        emit('bridge:teardown', {});
        return answer(message.id, {});
      default: return refuse(message.id, -32601, 'Method not found');
    }
  }

  function told(method, params) {
    switch (method) {
      case 'ui/notifications/tool-input':
        known.input = params.arguments || {};
        return emit('tool:input', { arguments: known.input });
      case 'ui/notifications/tool-input-partial':
        known.input = Object.assign({}, known.input, params.arguments);
        return emit('tool:input-partial', { arguments: known.input });
      case 'ui/notifications/tool-result':
        known.output = params.content;
        known.structured = params.structuredContent === undefined ? null : params.structuredContent;
        known.metadata = params._meta || null;
        listeners.result.forEach(function (heard) { heard(params); });
        listeners.metadata.forEach(function (heard) { heard(known.metadata); });
        return emit('tool:result', params);
      case 'ui/notifications/cancelled':
      case 'ui/notifications/tool-cancelled':
        return emit('tool:cancelled', { reason: params.reason });
      case 'ui/notifications/host-context-changed':
        Object.assign(known.context, params);
        listeners.context.forEach(function (heard) { heard(params); });
        return;
    }
  }

  window.addEventListener('message', function (event) {
    if (!isHost(event)) return;
    var message = event.data;
    if (!message || typeof message !== 'object' || message.jsonrpc !== '2.0') return;
    if (message.method === undefined) return settle(message);
    if (message.id !== undefined) return asked(message);
    told(message.method, message.params || {});
  });

  document.addEventListener('click', function (event) {
    var element = event.target instanceof Element && event.target.closest('[data-tool-call]');
    if (!element) return;
    var name = element.getAttribute('data-tool-call');
    var args;
    try {
      args = JSON.parse(element.getAttribute('data-tool-args') || '{}');
    } catch (error) {
      return emit('tool:error', { name: name, args: null, error: error }, element);
    }
    element.disabled = true;
    bridge.callTool(name, args).then(
      function (result) { emit('tool:success', { name: name, args: args, result: result }, element); },
      function (error) { emit('tool:error', { name: name, args: args, error: error }, element); },
    ).finally(function () { element.disabled = false; });
  }, true);

  function subscribe(set) {
    return function (heard) {
      set.add(heard);
      return function () { set.delete(heard); };
    };
  }

  var bridge = {
    get initialized() { return known.initialized; },
    get adapterId() { return adapter; },
    get capabilities() {
      var calls = hasCapability('serverTools') || hasCapability('serverToolProxy');
      return {
        canCallTools: calls || adapter === 'openai',
        canSendMessages: adapter !== 'generic',
        canOpenLinks: true,
        supportsDisplayModes: adapter !== 'generic',
        canPersistState: true,
        hasNetworkAccess: false,
      };
    },
    hasCapability: hasCapability,
    getTheme: function () { return known.context.theme || 'light'; },
    getDisplayMode: function () { return known.context.displayMode || 'inline'; },
    getToolInput: function () { return known.input; },
    getToolOutput: function () { return known.output; },
    getStructuredContent: function () { return known.structured; },
    getToolResponseMetadata: function () { return known.metadata; },
    getWidgetState: function () { return known.state; },
    getHostContext: function () { return Object.assign({}, known.context); },
    callTool: function (name, args) {
      if (adapter === 'openai') return window.openai.callTool(name, args || {});
      if (!bridge.capabilities.canCallTools) return Promise.reject(new Error('Server tools not supported'));
      return ask('tools/call', { name: name, arguments: args || {} });
    },
    sendMessage: function (text) {
      if (adapter === 'openai') return window.openai.sendFollowUpMessage({ prompt: text });
      return ask('ui/message', { role: 'user', content: [{ type: 'text', text: text }] });
    },
    openLink: function (url) {
      if (hasCapability('openLink')) return ask('ui/openLink', { url: url });
      window.open(url, '_blank', 'noopener,noreferrer');
      return Promise.resolve();
    },
    requestDisplayMode: function (mode) { return ask('ui/setDisplayMode', { mode: mode }); },
    setSize: function (size) {
      emit('widget:resize', size);
      return ask('ui/setSize', size);
    },
    requestClose: function () { return ask('ui/close', {}); },
    updateModelContext: function (context, merge) {
      var params = { context: context, merge: merge !== false };
      return unless('modelContextUpdate', 'Model context update not supported', 'ui/updateModelContext', params);
    },
    log: function (level, message, data) {
      if (hasCapability('logging')) return ask('ui/log', { level: level, message: message, data: data });
      (console[level] || console.log).call(console, message, data);
      return Promise.resolve();
    },
    registerTool: function (name, description, schema, handler) {
      var listed = { name: name, description: description, inputSchema: schema };
      var known = unless('widgetTools', 'Widget tool registration not supported', 'ui/registerTool', listed);
      return known.then(function () { handlers.set(name, { listed: listed, handler: handler }); });
    },
    unregisterTool: function (name) {
      var known = unless('widgetTools', 'Widget tool registration not supported', 'ui/unregisterTool', { name: name });
      return known.then(function () { handlers.delete(name); });
    },
    setWidgetState: function (state) {
      known.state = Object.assign({}, known.state, state);
      keep();
      try {
        localStorage.setItem('frontmcp:widget:' + toolName, JSON.stringify(known.state));
      } catch {
        // A frame without an origin has no storage.
      }
    },
    onContextChange: subscribe(listeners.context),
    onToolResult: subscribe(listeners.result),
    onToolResponseMetadata: subscribe(listeners.metadata),
  };

  // A widget that brings a bridge of its own is left with that.
  Object.defineProperty(window, 'FrontMcpBridge', {
    configurable: true,
    get: function () { return bridge; },
    set: function (own) {
      stoodDown = true;
      Object.defineProperty(window, 'FrontMcpBridge', { value: own, writable: true, configurable: true });
    },
  });
  var stoodDown = false;

  function greet() {
    if (stoodDown) return;
    if (adapter !== 'ext-apps') {
      known.initialized = true;
      return emit('bridge:ready', { adapter: adapter });
    }
    var greeting = {
      appInfo: { name: 'FrontMCP Widget', version: '1.0.0' },
      appCapabilities: { tools: { listChanged: false }, supportsPartialInput: true, experimental: { 'megaron/bridge': { version: 1 } } },
      protocolVersion: '2024-11-05',
    };
    request('ui/initialize', greeting, HANDSHAKE).then(
      function (result) {
        known.capabilities = result.hostCapabilities || {};
        known.context = result.hostContext || {};
        known.initialized = true;
        // What was set meanwhile is newer.
        known.state = Object.assign({}, known.context['megaron/widgetState'], known.state);
        post({ method: 'ui/notifications/initialized', params: {} });
        if (unkept) keep();
        emit('bridge:ready', { adapter: adapter });
      },
      function (error) { emit('bridge:error', { error: error }); },
    );
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', greet);
  else setTimeout(greet, 0);
})();
