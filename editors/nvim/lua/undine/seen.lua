--- Tells the server what the person sees: the selection, the problems, where symbols are.
local documents = require("undine.documents")

local M = {}

--- The severities of LSP are those of Neovim.
---@param buf integer
---@param client_id integer
---@return agent.Problem[]
local function problems(buf, client_id)
  local own = vim.lsp.diagnostic.get_namespace(client_id)
  local found = {}
  for _, it in ipairs(vim.diagnostic.get(buf)) do
    -- What the server itself shows is no problem of the code.
    if it.namespace ~= own and it.source ~= "undine" then
      table.insert(found, {
        line = it.lnum + 1,
        severity = it.severity,
        message = it.message,
        source = it.source,
      })
    end
  end
  return found
end

---@param buf integer
---@param client_id integer
---@return agent.FileProblems
local function file(buf, client_id)
  return { uri = vim.uri_from_bufnr(buf), problems = problems(buf, client_id) }
end

--- Whether anything but our server looks at the buffer.
---@param buf integer
---@param client_id integer
local function is_checked(buf, client_id)
  return vim.iter(vim.lsp.get_clients({ bufnr = buf })):any(function(client)
    return client.id ~= client_id
  end)
end

--- Waits in the request's coroutine until the problems of a version are there, at most so long.
---@param buf integer
---@param version integer
---@param wait_ms integer
---@return boolean found
local function wait(buf, version, wait_ms)
  local thread = assert(coroutine.running(), "a request is handled in a coroutine")
  local is_over, autocmd = false, nil
  local function finish(found)
    if not is_over then
      is_over = true
      pcall(vim.api.nvim_del_autocmd, autocmd)
      local ok, problem = coroutine.resume(thread, found)
      if not ok then
        vim.lsp.log.error("undine: the answer could not be sent", problem)
      end
    end
  end
  autocmd = vim.api.nvim_create_autocmd("DiagnosticChanged", {
    buffer = buf,
    callback = function()
      finish(vim.lsp.util.buf_versions[buf] == version)
    end,
  })
  vim.defer_fn(function()
    finish(false)
  end, wait_ms)
  return coroutine.yield()
end

--- Answers `undine/diagnostics`.
---@param params agent.DiagnosticsParams
---@param client_id integer
---@return agent.DiagnosticsResult
function M.diagnostics(params, client_id)
  if not params.uri then
    local bufs = vim.iter(vim.api.nvim_list_bufs()):filter(function(buf)
      return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == ""
    end)
    local files = bufs:map(function(buf)
      return file(buf, client_id)
    end)
    files = files:filter(function(it)
      return #it.problems > 0
    end)
    return { files = files:totable() }
  end
  local buf = documents.loaded(params.uri)
  if not buf then
    return { files = {} }
  end
  local version = params.version
  if version and is_checked(buf, client_id) then
    if not wait(buf, version, params.waitMs or 0) then
      return { files = {} }
    end
  end
  if version and (not vim.api.nvim_buf_is_valid(buf) or vim.lsp.util.buf_versions[buf] ~= version) then
    return { files = {} }
  end
  return { files = { { uri = params.uri, version = version, problems = problems(buf, client_id) } } }
end

--- The window that shows a file: the current one, the one before, or any other.
---@return integer? win
local function file_window()
  local wins = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(wins, vim.api.nvim_tabpage_list_wins(0))
  return vim.iter(wins):find(function(win)
    local buf = win ~= 0 and vim.api.nvim_win_get_buf(win)
    return buf and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
  end)
end

--- Answers `undine/selection`: what was selected last in the window that shows a file.
---@return agent.SelectionResult
function M.selection()
  local win = file_window()
  local buf = win and vim.api.nvim_win_get_buf(win)
  local first = buf and vim.api.nvim_buf_get_mark(buf, "<")[1] or 0
  local last = buf and vim.api.nvim_buf_get_mark(buf, ">")[1] or 0
  if not buf or first == 0 or last < first then
    return vim.empty_dict()
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, false)
  return {
    selection = {
      uri = vim.uri_from_bufnr(buf),
      lines = { first, last },
      text = table.concat(lines, "\n"),
    },
  }
end

--- Answers `undine/symbols`, as the other servers know them.
---@param params agent.SymbolsParams
---@param client_id integer
---@return agent.SymbolsResult
function M.symbols(params, client_id)
  local thread = assert(coroutine.running(), "a request is handled in a coroutine")
  local clients = vim.iter(vim.lsp.get_clients({ method = "workspace/symbol" })):filter(function(it)
    return it.id ~= client_id
  end)
  clients = clients:totable()
  local symbols, n_open, is_waiting = {}, #clients, false
  local function add(found)
    for _, it in ipairs(found or {}) do
      local range = it.location and it.location.range
      if range and #symbols < 20 then
        local lines = { range.start.line + 1, range["end"].line + 1 }
        table.insert(symbols, { name = it.name, uri = it.location.uri, lines = lines })
      end
    end
  end
  for _, client in ipairs(clients) do
    client:request("workspace/symbol", { query = params.query }, function(_, found)
      add(found)
      n_open = n_open - 1
      if n_open == 0 and is_waiting then
        coroutine.resume(thread)
      end
    end)
  end
  if n_open > 0 then
    is_waiting = true
    coroutine.yield()
  end
  return { symbols = symbols }
end

return M
