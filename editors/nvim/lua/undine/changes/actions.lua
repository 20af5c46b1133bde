--- What a person does with changes: go through them, keep them, revert them.
local changes = require("undine.changes")
local marks = require("undine.changes.marks")
local state = require("undine.state")
local windows = require("undine.windows")

local M = {}

M.scopes = { "hunk", "file", "turn", "all" }

---@param text string
local function tell(text)
  vim.notify("Undine: " .. text, vim.log.levels.INFO)
end

local function nothing()
  tell("nothing waits to be reviewed.")
end

--- The change of a buffer's file, also while it is not drawn.
---@param buf integer
---@return undine.Change?
local function of_buffer(buf)
  if state.drawn[buf] then
    return state.drawn[buf].change
  end
  local real = vim.uv.fs_realpath(vim.api.nvim_buf_get_name(buf))
  return vim.iter(changes.all()):find(function(it)
    return it.path == vim.api.nvim_buf_get_name(buf)
      or real ~= nil and vim.uv.fs_realpath(it.path) == real
  end)
end

--- Shows the file in the current window if that is for files, else in one that is.
---@param change undine.Change
---@return integer? buf
local function open(change)
  local buf = changes.buffer(change)
  if vim.bo.buftype ~= "" or vim.wo.winfixbuf then
    vim.api.nvim_set_current_win(windows.of(buf) or windows.for_file(buf))
    return buf
  end
  vim.cmd("normal! m'")
  local ok, problem = pcall(vim.cmd.buffer, buf)
  if not ok then
    tell(tostring(problem):match("E%d+:.*") or tostring(problem))
    return nil
  end
  return buf
end

--- Goes to a file's first or last change.
---@param change undine.Change
---@param step 1|-1
local function go(change, step)
  local buf = open(change)
  if not buf then
    return
  end
  local drawn, hunks = state.drawn[buf], change.file.hunks
  local at = step == 1 and 1 or #hunks
  if drawn and drawn.hunks[at] then
    windows.reveal(0, (marks.place(buf, drawn.hunks[at])))
  else
    windows.reveal(0, hunks[at] and hunks[at].range.start.line or 0)
  end
end

--- The files one can go to, and the place of the current one among them.
---@return undine.Change[] files
---@return integer? at
local function files()
  local all = vim.tbl_filter(function(it)
    return it.file.change ~= "deleted"
  end, changes.all())
  local here = of_buffer(vim.api.nvim_get_current_buf())
  for at, it in ipairs(all) do
    if it == here then
      return all, at
    end
  end
  return all, nil
end

--- The file before or behind the current one, and round.
---@param step 1|-1
---@return undine.Change?
local function other_file(step)
  local all, at = files()
  if not at then
    return all[step == 1 and 1 or #all]
  end
  return all[(at - 1 + step) % #all + 1]
end

--- Goes to the next or the previous change, over all files and round.
---@param step 1|-1
function M.jump(step)
  local buf, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local drawn = state.drawn[buf]
  local n = drawn and #drawn.hunks or 0
  for at = step == 1 and 1 or n, step == 1 and n or 1, step do
    local first = marks.place(buf, drawn.hunks[at])
    if (first - row) * step > 0 then
      vim.cmd("normal! m'")
      windows.reveal(0, first)
      return
    end
  end
  local change = other_file(step)
  if change then
    go(change, step)
  else
    nothing()
  end
end

--- Goes to the next or the previous file with changes; in the tab page that compares, shows that one.
---@param step 1|-1
function M.jump_file(step)
  local diff = require("undine.changes.diff")
  if diff.is_here() then
    diff.walk(step)
    return
  end
  local change = other_file(step)
  if change then
    go(change, 1)
  else
    nothing()
  end
end

--- The hunks meant by these lines; in the quickfix list those of its entries.
---@param first integer row
---@param last integer row
---@return agent.ReviewHunk[] hunks
---@return undine.Change? change
local function hunks_at(first, last)
  local buf = vim.api.nvim_get_current_buf()
  if vim.bo[buf].buftype == "quickfix" then
    return require("undine.changes.list").hunks(first, last)
  end
  local found = vim
    .iter(marks.at(buf, first, last))
    :map(function(it)
      return it.hunk
    end)
    :totable()
  return found, of_buffer(buf)
end

--- The turn of the change at the cursor, else the latest of the session that is shown or of the only one there is.
---@param hunk agent.ReviewHunk?
---@return { sessionId: string, turn: integer }? turn nil once the person was told to name one
local function turn_of(hunk)
  if hunk then
    return { sessionId = hunk.sessionId, turn = hunk.turn }
  end
  local latest, shown = {}, state.shown()
  for _, change in ipairs(changes.all()) do
    for _, it in ipairs(change.file.hunks) do
      latest[it.sessionId] = math.max(latest[it.sessionId] or 0, it.turn)
    end
  end
  local session = shown and latest[shown.id] and shown.id
    or vim.tbl_count(latest) == 1 and next(latest)
  if not session then
    tell("there are changes of several sessions; put the cursor on one of the turn you mean.")
    return nil
  end
  return { sessionId = session, turn = latest[session] }
end

--- The turn that is meant at the cursor.
---@return { sessionId: string, turn: integer }?
function M.turn_here()
  if vim.tbl_isempty(state.changes) then
    nothing()
    return nil
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  return turn_of(hunks_at(row, row)[1])
end

---@return integer[] ids of the clients with changes
local function clients()
  local found = {}
  for _, change in ipairs(changes.all()) do
    if not vim.list_contains(found, change.client_id) then
      table.insert(found, change.client_id)
    end
  end
  return found
end

--- Keeps or reverts what is meant: the changes at the cursor or in the lines, those of the file, of a turn, or all.
---@param action agent.ReviewAction
---@param scope string one of `M.scopes`
---@param lines? integer[] first and last row, else the cursor's
function M.judge(action, scope, lines)
  if vim.tbl_isempty(state.changes) then
    nothing()
    return
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local hunks, change = hunks_at(unpack(lines or { row, row }))
  if scope == "hunk" and #hunks > 0 and change then
    local ids = vim.tbl_map(function(it)
      return it.id
    end, hunks)
    changes.resolve(change.client_id, { action = action, hunkIds = ids })
  elseif scope == "hunk" and change and #change.file.hunks > 0 then
    tell("there is no change at the cursor; ]h goes to the next.")
  elseif (scope == "hunk" or scope == "file") and change then
    changes.resolve(change.client_id, { action = action, uri = change.file.uri })
  elseif scope == "hunk" or scope == "file" then
    tell("the agent changed nothing here that waits to be reviewed.")
  elseif scope == "turn" then
    local turn = turn_of(hunks[1])
    for _, id in ipairs(turn and clients() or {}) do
      changes.resolve(id, vim.tbl_extend("force", turn, { action = action }))
    end
  elseif scope == "all" then
    for _, id in ipairs(clients()) do
      changes.resolve(id, { action = action })
    end
  else
    local possible = table.concat(M.scopes, ", ")
    vim.notify(("Undine: `%s` is none of %s."):format(scope, possible), vim.log.levels.WARN)
  end
end

--- A command with its argument and range.
---@param action agent.ReviewAction
---@param args vim.api.keyset.create_user_command.command_args
function M.command(action, args)
  local lines = args.range > 0 and { args.line1 - 1, args.line2 - 1 } or nil
  M.judge(action, args.args == "" and "hunk" or args.args, lines)
end

---@param lead string
---@return string[]
function M.complete(lead)
  return vim.tbl_filter(function(it)
    return vim.startswith(it, lead)
  end, M.scopes)
end

return M
