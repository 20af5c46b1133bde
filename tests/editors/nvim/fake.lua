--- A server inside the editor: it writes down what the client sends and says what a case tells it to.
local M = {
  received = {}, -- what the agent's methods brought, until a case takes it
  answers = {}, -- the client's answers to our requests, until a case takes them
  prompts = {}, -- how to answer each prompt that is open
  documents = {}, -- by uri: version and text, kept from the synchronisation (whole texts)
  n_changes = 0,
  review = {}, -- by uri: a file with changes that are not judged, without its version
  n_lists = 0, -- how often the changes were asked for
}

--- What the agent's requests are answered with; a case may replace one.
M.results = {
  ["session/new"] = function()
    return {
      sessionId = "s1",
      modes = {
        currentModeId = "ask",
        availableModes = {
          { id = "read_only", name = "Read only" },
          { id = "ask", name = "Ask" },
          { id = "auto", name = "Auto" },
        },
      },
    }
  end,
  ["session/set_mode"] = function()
    return vim.empty_dict()
  end,
}

--- How a request without a result fails; a case may say it.
M.errors = {}

--- The changes of a file as the server tells them now: for the text that it knows.
local function review_file(uri)
  local file = M.review[uri] or { hunks = {} }
  local version = M.documents[uri] and M.documents[uri].version or vim.NIL
  return vim.tbl_extend("force", { uri = uri, version = version }, file)
end

M.results["undine/review/list"] = function(params)
  local files = {}
  for uri in vim.spairs(M.review) do
    if not params.uri or params.uri == uri then
      table.insert(files, review_file(uri))
    end
  end
  return { files = files }
end

--- Through JSON and back, as on a real wire.
local function wire(value)
  if value == nil then
    return nil
  end
  return vim.json.decode(vim.json.encode(value), { luanil = { object = true } })
end

--- JSON with sorted keys, for comparing whole values.
local function json(value)
  if type(value) ~= "table" then
    return vim.json.encode(value)
  end
  if vim.islist(value) and getmetatable(value) ~= getmetatable(vim.empty_dict()) then
    return "[" .. table.concat(vim.tbl_map(json, value), ",") .. "]"
  end
  local keys = vim.tbl_keys(value)
  table.sort(keys)
  local parts = vim.tbl_map(function(key)
    return vim.json.encode(key) .. ":" .. json(value[key])
  end, keys)
  return "{" .. table.concat(parts, ",") .. "}"
end

local function record(method, params)
  if method == "undine/review/list" then
    M.n_lists = M.n_lists + 1
  elseif method:match("^session/") or method:match("^elicitation/") or method:match("^undine/") then
    table.insert(M.received, { method = method, params = json(params) })
  elseif method == "textDocument/didOpen" then
    local document = params.textDocument
    M.documents[document.uri] = { version = document.version, text = document.text }
  elseif method == "textDocument/didChange" then
    local document = M.documents[params.textDocument.uri]
    document.version = params.textDocument.version
    document.text = params.contentChanges[#params.contentChanges].text
    M.n_changes = M.n_changes + 1
  end
end

function M.cmd(dispatchers)
  local is_closing, last_id = false, 0
  M.dispatchers = dispatchers
  return {
    request = function(method, params, callback)
      last_id = last_id + 1
      record(method, params)
      local function reply(err, result)
        vim.schedule(function()
          callback(wire(err), wire(result))
        end)
      end
      if method == "initialize" then
        M.initialize = json(params)
        reply(nil, {
          capabilities = {
            textDocumentSync = { openClose = true, change = 1, save = true },
            experimental = { agent = { protocolVersion = 1 } },
          },
        })
      elseif method == "shutdown" then
        reply(nil, vim.NIL)
      elseif method == "session/prompt" then
        table.insert(M.prompts, reply)
      elseif M.results[method] then
        reply(nil, M.results[method](wire(params)))
      else
        reply(M.errors[method] or { code = -32601, message = "no such method" })
      end
      return true, last_id
    end,
    notify = function(method, params)
      record(method, params)
      if method == "exit" then
        is_closing = true
        dispatchers.on_exit(0, 0)
      end
      return true
    end,
    is_closing = function()
      return is_closing
    end,
    terminate = function()
      is_closing = true
    end,
  }
end

function M.take(method)
  for at, it in ipairs(M.received) do
    if it.method == method then
      table.remove(M.received, at)
      return it.params
    end
  end
end

function M.take_answer(method)
  for at, it in ipairs(M.answers) do
    if it.method == method then
      table.remove(M.answers, at)
      return it.result
    end
  end
end

--- What no case has taken.
function M.left()
  return vim.list_extend(vim.deepcopy(M.received), M.answers)
end

--- A request of the server, handled on a coroutine of its own as Neovim does it.
function M.ask(method, params)
  vim.schedule(coroutine.wrap(function()
    local result, err = M.dispatchers.server_request(method, wire(params))
    table.insert(M.answers, { method = method, result = json(err or result) })
  end))
end

function M.notify(method, params)
  M.dispatchers.notification(method, wire(params))
end

--- Makes these the changes of a file and tells the client, unless that is left for later.
---@param path string
---@param hunks table[] `{ id, first row, number of lines, base text, state? }`
---@param more? { change?: string, version?: integer, is_silent?: boolean, turn?: integer, session?: string }
function M.changed(path, hunks, more)
  more = more or {}
  local uri = vim.uri_from_fname(path)
  local file = { change = more.change, hunks = {} }
  for at, it in ipairs(hunks) do
    file.hunks[at] = {
      id = it[1],
      state = it[5] or "pending",
      range = {
        start = { line = it[2], character = 0 },
        ["end"] = { line = it[2] + it[3], character = 0 },
      },
      baseText = it[4],
      sessionId = more.session or "s1",
      turn = it[6] or 1,
      toolCallId = "c1",
    }
  end
  M.review[uri] = (#hunks > 0 or more.change) and file or nil
  if not more.is_silent then
    local told = review_file(uri)
    told.version = more.version or told.version
    M.notify("undine/review/changed", { files = { told } })
  end
end

function M.update(...)
  for _, update in ipairs({ ... }) do
    M.notify("session/update", { sessionId = "s1", update = update })
  end
end

--- Answers the oldest open prompt.
function M.finish(result, err)
  table.remove(M.prompts, 1)(err, result or { stopReason = "end_turn" })
end

return M
