--- Starts the server, keeps the files that are open attached to it, and routes what it asks.
local config = require("undine.config")
local state = require("undine.state")

local M = {}

--- The methods of the server that this client receives or answers; others are not sent to it.
local methods = {
  "session/update",
  "session/request_permission",
  "elicitation/create",
  "undine/document/save",
  "undine/selection",
  "undine/diagnostics",
  "undine/symbols",
  "undine/review/changed",
  "undine/retry",
  "undine/btw/chunk",
}

---@return table capabilities Neovim's own, and ours
function M.capabilities()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  -- Neovim understands edits for a version but does not say so, and then is sent edits that fit whatever is there.
  capabilities.workspace.workspaceEdit.documentChanges = true
  capabilities.experimental = {
    agent = {
      protocolVersion = 1,
      clientCapabilities = {
        fs = { readTextFile = false, writeTextFile = false },
        terminal = false,
        elicitation = { form = vim.empty_dict() },
      },
      methods = methods,
      trustedSettings = false,
    },
  }
  return capabilities
end

---@return table<string, lsp.Handler>
local function handlers()
  return {
    ["session/update"] = function(_, params, ctx)
      require("undine.session").update(params, ctx.client_id)
    end,
    ["session/request_permission"] = function(_, params, ctx)
      return require("undine.approvals").permission(params, ctx.client_id)
    end,
    ["elicitation/create"] = function(_, params, ctx)
      return require("undine.approvals").elicitation(params, ctx.client_id)
    end,
    ["undine/document/save"] = function(_, params)
      return require("undine.documents").save(params)
    end,
    ["undine/selection"] = function()
      return require("undine.seen").selection()
    end,
    ["undine/diagnostics"] = function(_, params, ctx)
      return require("undine.seen").diagnostics(params, ctx.client_id)
    end,
    ["undine/symbols"] = function(_, params, ctx)
      return require("undine.seen").symbols(params, ctx.client_id)
    end,
    ["undine/review/changed"] = function(_, params, ctx)
      require("undine.changes").received(params, ctx.client_id)
    end,
    ["undine/retry"] = function(_, params, ctx)
      require("undine.retry").received(params, ctx.client_id)
    end,
    ["undine/btw/chunk"] = function(_, params, ctx)
      require("undine.btw").received(params, ctx.client_id)
    end,
    ["workspace/applyEdit"] = function(_, params, ctx)
      return require("undine.workspace_edits").apply(params, ctx.client_id)
    end,
    ["$/cancelRequest"] = function(_, params, ctx)
      require("undine.approvals").request_cancelled(params.id, ctx.client_id)
    end,
  }
end

--- Files a person edits; not help, terminals, trees, nor buffers of another scheme.
---@param buf integer
local function is_ordinary(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  return vim.api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ""
    and name ~= ""
    and not name:match("^%a[%w+.-]*://")
end

---@param buf integer
local function attach(buf)
  if not is_ordinary(buf) then
    return
  end
  for id, entry in pairs(state.clients) do
    if entry.has_agent and not vim.lsp.buf_is_attached(buf, id) then
      require("undine.documents").attaching(buf)
      vim.lsp.buf_attach_client(buf, id)
    end
  end
end

--- Every file is attached, also one outside the root: what is open must never be written behind the editor.
local function attach_all()
  local group = vim.api.nvim_create_augroup("undine", { clear = true })
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "BufWritePost" }, {
    group = group,
    callback = function(args)
      attach(args.buf)
      require("undine.changes").attached(args.buf)
      if args.event == "BufWritePost" then
        require("undine.documents").written(args.buf)
      end
    end,
  })
  vim.iter(vim.api.nvim_list_bufs()):each(attach)
end

---@param client vim.lsp.Client
local function on_init(client)
  local entry = state.clients[client.id]
  if not entry then
    return
  end
  entry.ready = true
  entry.has_agent = vim.tbl_get(client.server_capabilities, "experimental", "agent") ~= nil
  if not entry.has_agent then
    vim.notify(
      "Undine: this server has no agent methods; check the option `cmd` with :checkhealth undine.",
      vim.log.levels.ERROR
    )
  else
    require("undine.documents").watch_changes(client)
    attach_all()
    require("undine.changes").ask(client.id)
  end
  local waiting = entry.waiting
  entry.waiting = {}
  for _, run in ipairs(waiting) do
    run(entry.has_agent and client or nil)
  end
end

---@param code integer
---@param signal integer
---@param client_id integer
local function on_exit(code, signal, client_id)
  local entry = state.clients[client_id]
  state.clients[client_id] = nil
  if entry and not entry.ready then
    local text = "Undine: the server ended at its start (exit code %d); see :checkhealth undine."
    vim.notify(text:format(code), vim.log.levels.ERROR)
  end
  for _, run in ipairs(entry and entry.waiting or {}) do
    run(nil)
  end
  for _, run in ipairs(entry and entry.on_session or {}) do
    run(nil)
  end
  if vim.tbl_isempty(state.clients) then
    pcall(vim.api.nvim_del_augroup_by_name, "undine")
  end
  require("undine.approvals").client_gone(client_id)
  require("undine.changes").client_gone(client_id)
  require("undine.retry").client_gone(client_id)
  require("undine.session").client_gone(client_id, code, signal)
end

---@param buf integer
---@return string
function M.root(buf)
  local markers = config.get().root_markers
  local from = is_ordinary(buf) and buf or vim.fn.getcwd()
  return vim.fs.root(from, markers) or vim.fn.getcwd()
end

---@param cmd any
---@return string? problem
function M.missing(cmd)
  if type(cmd) == "table" and vim.fn.executable(cmd[1]) == 0 then
    return ("`%s` was not found; install Undine or set the option `cmd`"):format(cmd[1])
  end
end

--- Starts the server for this root, or takes the one that runs, and calls `run` when it is ready; with nil, once a
--- person was told why, when it does not get there.
---@param root string
---@param run fun(client?: vim.lsp.Client)
function M.with(root, run)
  local options = config.get()
  local missing = M.missing(options.cmd)
  if missing then
    vim.notify("Undine: " .. missing .. ".", vim.log.levels.ERROR)
    run(nil)
    return
  end

  local id = vim.lsp.start({
    name = "undine",
    cmd = options.cmd,
    root_dir = root,
    capabilities = M.capabilities(),
    init_options = next(options.init_options) and options.init_options or vim.empty_dict(),
    -- The server believes an edit only when it comes back, so a change is sent at once.
    flags = { debounce_text_changes = 0 },
    handlers = handlers(),
    on_init = on_init,
    on_exit = vim.schedule_wrap(on_exit),
  }, { attach = false })
  local client = id and vim.lsp.get_client_by_id(id)
  if not client then
    run(nil)
    return
  end

  local entry = state.clients[id] or { id = id, ready = false, has_agent = false, waiting = {} }
  state.clients[id] = entry
  if entry.ready then
    run(entry.has_agent and client or nil)
  else
    table.insert(entry.waiting, run)
  end
end

--- The client of a session, or nil when its server has ended.
---@param session undine.Session
---@return vim.lsp.Client?
function M.of(session)
  local client = vim.lsp.get_client_by_id(session.client_id)
  return client and not client:is_stopped() and client or nil
end

--- One line from a JSON-RPC error: what happened and what to do.
---@param err lsp.ResponseError
---@return string
function M.error_line(err)
  local data = type(err.data) == "table" and err.data or {}
  local hint = data.hint
  if data.kind == "auth" and type(data.provider) == "string" then
    hint = (":UndineLogin %s takes it here."):format(data.provider)
  end
  local message = tostring(err.message or "the server gave no reason"):gsub("%s+", " ")
  if type(hint) == "string" and hint ~= "" then
    return ("%s %s"):format((message:gsub("([^.!?])$", "%1.")), (hint:gsub("%s+", " ")))
  end
  return message
end

return M
