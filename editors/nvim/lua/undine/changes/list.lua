--- All changes in the quickfix list, one entry a hunk, kept up to date for as long as the list is there.
local changes = require("undine.changes")
local hunks_of = require("undine.hunks")
local state = require("undine.state")

local M = {}

--- The lines of a file from its buffer, else from the disk as far as they are needed.
---@param change undine.Change
---@return string[]
local function lines_of(change)
  local buf = require("undine.documents").loaded(change.file.uri)
  if buf then
    return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  local last = change.file.hunks[#change.file.hunks]
  local n_lines = last and last.range.start.line + 1 or 0
  if n_lines == 0 or not vim.uv.fs_stat(change.path) then
    return {}
  end
  local ok, lines = pcall(vim.fn.readfile, change.path, "", n_lines)
  return ok and lines or {}
end

--- What an entry says: how many lines came and went, and the first of them. Pure.
---@param hunk agent.ReviewHunk
---@param lines string[] of the file
---@return string
function M.text(hunk, lines)
  local from, to = hunk.range.start.line, hunk.range["end"].line
  local base = hunks_of.split(hunk.baseText)
  local n_added = to - from + (hunk.range["end"].character > 0 and 1 or 0)
  local first = n_added > 0 and (lines[from + 1] or "") or "- " .. (base[1] or "")
  local whose = hunk.state == "mixed" and "  yours too:" or ""
  return ("+%d -%d%s  %s"):format(n_added, #base, whose, vim.trim(first))
end

---@type table<agent.WholeFile, string>
local whole = { created = "the file is new", deleted = "the file was deleted" }

---@param is_meant fun(hunk: agent.ReviewHunk): boolean
---@return table[] items for `setqflist`
function M.items(is_meant)
  local items = {}
  for _, change in ipairs(changes.all()) do
    local lines = lines_of(change)
    local buf = require("undine.documents").loaded(change.file.uri)
    local function add(lnum, end_lnum, text, hunk)
      table.insert(items, {
        bufnr = buf,
        filename = not buf and change.path or nil,
        lnum = lnum,
        end_lnum = end_lnum,
        col = 1,
        text = text,
        user_data = { key = changes.key(change), id = hunk and hunk.id },
      })
    end
    for _, hunk in ipairs(vim.tbl_filter(is_meant, change.file.hunks)) do
      local from, to = hunk.range.start.line + 1, hunk.range["end"].line
      local text = M.text(hunk, lines)
      if change.file.change then
        text = ("%s  %s"):format(text, whole[change.file.change])
      end
      add(from, math.max(from, to), text, hunk)
    end
    if #change.file.hunks == 0 and change.file.change then
      add(1, 1, whole[change.file.change], nil)
    end
  end
  return items
end

---@param items table[]
---@param turn? integer
---@return string
local function title(items, turn)
  local files = {}
  for _, it in ipairs(items) do
    files[it.user_data.key] = true
  end
  local n = vim.tbl_count(files)
  local where = n == 1 and "1 file" or ("%d files"):format(n)
  local when = turn and " of one turn" or ""
  return ("Undine: %s%s in %s"):format(changes.counted(#items), when, where)
end

--- Which hunks a list is about; kept in its context, which is where the list itself keeps it.
---@param turn? { sessionId: string, turn: integer }
---@return fun(hunk: agent.ReviewHunk): boolean
local function meant_by(turn)
  return function(hunk)
    return not turn or hunk.sessionId == turn.sessionId and hunk.turn == turn.turn
  end
end

--- Opens the list: of all, or of one turn only.
---@param turn? { sessionId: string, turn: integer }
function M.open(turn)
  local items = M.items(meant_by(turn))
  if #items == 0 then
    vim.notify("Undine: nothing waits to be reviewed.", vim.log.levels.INFO)
    return
  end
  local is_there = state.quickfix and vim.fn.getqflist({ id = state.quickfix }).id ~= 0
  vim.fn.setqflist({}, is_there and "r" or " ", {
    id = is_there and state.quickfix or nil,
    items = items,
    title = title(items, turn and turn.turn),
    context = { undine = turn or vim.empty_dict() },
  })
  local newest = vim.fn.getqflist({ id = is_there and state.quickfix or 0, nr = 0 })
  state.quickfix = newest.id
  if is_there and newest.nr ~= vim.fn.getqflist({ nr = 0 }).nr then
    vim.cmd(("silent %dchistory"):format(newest.nr))
  end
  vim.cmd("botright copen")
end

--- Puts what there is now into the list; the entry one is at stays.
function M.update()
  if not state.quickfix then
    return
  end
  local list = vim.fn.getqflist({ id = state.quickfix, idx = 0, items = 0, context = 0, winid = 0 })
  if list.id == 0 then
    state.quickfix = nil
    return
  end
  local turn = type(list.context) == "table" and list.context.undine or nil
  turn = turn and turn.turn and turn or nil
  local items = M.items(meant_by(turn))
  local at, here = list.idx, list.items[list.idx]
  for place, it in ipairs(items) do
    if here and vim.deep_equal(it.user_data, here.user_data) then
      at = place
      break
    end
  end
  local view = list.winid ~= 0 and vim.api.nvim_win_call(list.winid, vim.fn.winsaveview)
  vim.fn.setqflist({}, "r", {
    id = state.quickfix,
    items = items,
    idx = math.max(1, math.min(at, #items)),
    title = title(items, turn and turn.turn),
  })
  if view then
    vim.api.nvim_win_call(list.winid, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- The hunks of these rows of the quickfix window; of one file, that of the first row.
---@param first integer
---@param last integer
---@return agent.ReviewHunk[] hunks
---@return undine.Change? change
function M.hunks(first, last)
  local list = vim.fn.getqflist({ id = 0, items = 0 })
  if list.id ~= state.quickfix then
    return {}, nil
  end
  local wanted, change = {}, nil
  for at = first + 1, last + 1 do
    local data = list.items[at] and list.items[at].user_data
    change = change or data and state.changes[data.key]
    if change and data and data.id and data.key == changes.key(change) then
      wanted[data.id] = true
    end
  end
  local found = vim.tbl_filter(function(it)
    return wanted[it.id]
  end, change and change.file.hunks or {})
  return found, change
end

return M
