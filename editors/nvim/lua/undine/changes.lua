--- What the agent has changed and nobody has judged yet: kept as the server tells it, and judged by telling the server.
---
--- No text is changed here. A list is drawn only when it was made for the text that stands in the buffer; else the
--- server is asked again, and what is drawn meanwhile moves with its lines.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

--- Before the server is asked again, in milliseconds: whoever types fast is not asked about each key.
local quiet = 50

---@param client_id integer
---@param uri string
local function key_of(client_id, uri)
  return client_id .. " " .. uri
end

---@param change undine.Change
---@return string
function M.key(change)
  return key_of(change.client_id, change.file.uri)
end

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.INFO)
end

---@param n integer
---@return string
function M.counted(n)
  return n == 1 and "1 change" or ("%d changes"):format(n)
end

---@param file agent.ReviewFile
---@return integer
function M.n_hunks(file)
  return math.max(#file.hunks, file.change and 1 or 0)
end

---@return integer
function M.count()
  return vim.iter(pairs(state.changes)):fold(0, function(sum, _, change)
    return sum + M.n_hunks(change.file)
  end)
end

--- All files, in the order of their paths.
---@return undine.Change[]
function M.all()
  local all = vim.tbl_values(state.changes)
  table.sort(all, function(a, b)
    return a.path < b.path
  end)
  return all
end

--- The buffer of its file, made when there is none.
---@param change undine.Change
---@return integer buf
function M.buffer(change)
  -- A name below the working directory stays short, as after `:edit`.
  local buf = require("undine.documents").loaded(change.file.uri)
    or vim.fn.bufadd(vim.fn.fnamemodify(change.path, ":."))
  vim.bo[buf].buflisted = true
  return buf
end

local is_due = false

--- Whatever shows all changes follows once, however many files a list names.
local function show_later()
  if is_due then
    return
  end
  is_due = true
  vim.schedule(function()
    is_due = false
    require("undine.changes.list").update()
    require("undine.changes.diff").update()
    vim.cmd.redrawstatus({ bang = true })
  end)
end

--- Draws a file where it is open, if the list is for the text that is there.
---@param change undine.Change
---@return boolean is_stale
local function draw(change)
  local marks = require("undine.changes.marks")
  local buf = require("undine.documents").loaded(change.file.uri)
  if not buf or not vim.lsp.buf_is_attached(buf, change.client_id) then
    return false
  elseif M.n_hunks(change.file) == 0 then
    -- Another server may have changes in the same file.
    local drawn = state.drawn[buf]
    if drawn and drawn.change.client_id == change.client_id then
      marks.clear(buf)
    end
    return false
  elseif change.file.version ~= vim.lsp.util.buf_versions[buf] then
    return true
  end
  return not marks.draw(buf, change)
end

--- Draws a file again, because it is to be shown in another way.
---@param key string
function M.redraw(key)
  local change = state.changes[key]
  if change then
    draw(change)
  end
end

--- Asks again for a file whose list is for another text.
---@param change undine.Change
local function ask_later(change)
  if change.is_asked then
    return
  end
  change.is_asked = true
  vim.defer_fn(function()
    if state.changes[M.key(change)] == change then
      M.ask(change.client_id, change.file.uri)
    end
  end, quiet)
end

---@param file agent.ReviewFile
---@param client_id integer
---@return boolean is_stale
---@return undine.Change change
local function take(file, client_id)
  local key = key_of(client_id, file.uri)
  local change = {
    client_id = client_id,
    path = vim.fs.normalize(vim.uri_to_fname(file.uri), { expand_env = false }),
    file = file,
    is_asked = false,
  }
  local before, is_there = state.changes[key], {}
  for _, hunk in ipairs(file.hunks) do
    is_there[hunk.id] = true
  end
  for _, hunk in ipairs(before and before.file.hunks or {}) do
    state.queued[hunk.id] = is_there[hunk.id] and state.queued[hunk.id]
  end
  state.changes[key] = M.n_hunks(file) > 0 and change or nil
  return draw(change), change
end

--- Answers `undine/review/changed`.
---@param list agent.ReviewList
---@param client_id integer
function M.received(list, client_id)
  for _, file in ipairs(list.files) do
    local is_stale, change = take(file, client_id)
    if is_stale then
      ask_later(change)
    end
  end
  show_later()
end

--- Asks what there is: of one file, or of all.
---@param client_id integer
---@param uri? string
function M.ask(client_id, uri)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  client:request("undine/review/list", { uri = uri }, function(err, list)
    if err then
      vim.lsp.log.error("undine: the changes could not be listed", err)
      return
    end
    local before = uri and state.changes[key_of(client_id, uri)]
    if before and #list.files == 0 then
      list.files = { { uri = uri, hunks = {} } }
    end
    for _, file in ipairs(list.files) do
      local is_stale, change = take(file, client_id)
      -- Where the server still has the text that it had before, it has been told of no other one; it will tell then.
      local buf = require("undine.documents").loaded(file.uri)
      local has_moved = file.version ~= (before and before.file.version)
      if is_stale and buf and (has_moved or not uri) then
        ask_later(change)
      end
    end
    show_later()
  end)
end

--- Looks at a buffer that was just read or written: what is known of its file may be for another text.
---@param buf integer
function M.attached(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local real = vim.uv.fs_realpath(name)
  for _, change in pairs(state.changes) do
    local is_same = change.path == name or real ~= nil and vim.uv.fs_realpath(change.path) == real
    if is_same and draw(change) then
      ask_later(change)
    end
  end
end

---@param client_id integer
function M.client_gone(client_id)
  for key, change in pairs(state.changes) do
    if change.client_id == client_id then
      state.changes[key] = nil
    end
  end
  for buf, drawn in pairs(state.drawn) do
    if drawn.change.client_id == client_id then
      require("undine.changes.marks").clear(buf)
    end
  end
  show_later()
end

--- What became of a wish, in one short line; nothing when all was done. Pure.
---@param result agent.ResolveReviewResult
---@param mixed table<string, boolean> ids of hunks in which the person's work is, too
---@return string?
function M.outcome(result, mixed)
  local n_queued, n_left = #result.queued, #result.remaining
  local words = {}
  if n_queued > 0 then
    local verb = n_queued == 1 and "is" or "are"
    table.insert(words, ("%s %s reverted when this step ends."):format(M.counted(n_queued), verb))
  end
  if n_left > 0 then
    local is_own = vim.iter(result.remaining):any(function(id)
      return mixed[id]
    end)
    local verb, them = "stay", "them"
    if n_left == 1 then
      verb, them = "stays", "it"
    end
    local reason = is_own and "your own work is in %s." or "later changes stand on %s."
    table.insert(words, ("%s %s: %s"):format(M.counted(n_left), verb, reason:format(them)))
  end
  return #words > 0 and table.concat(words, " ") or nil
end

---@return table<string, boolean>
local function mixed_hunks()
  local mixed = {}
  for _, change in pairs(state.changes) do
    for _, hunk in ipairs(change.file.hunks) do
      mixed[hunk.id] = hunk.state == "mixed"
    end
  end
  return mixed
end

--- Tells the server to keep or to revert, and the person what did not happen at once.
---@param client_id integer
---@param params agent.ResolveReviewParams
function M.resolve(client_id, params)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    tell("the server has ended; :Undine starts it again.", vim.log.levels.WARN)
    return
  end
  client:request("undine/review/resolve", params, function(err, result)
    if err then
      tell(client_of.error_line(err), vim.log.levels.WARN)
      return
    end
    for _, id in ipairs(result.queued) do
      state.queued[id] = true
    end
    if #result.queued > 0 then
      for _, change in pairs(state.changes) do
        draw(change)
      end
    end
    local text = M.outcome(result, mixed_hunks())
    if text then
      tell(text)
    end
  end)
end

return M
