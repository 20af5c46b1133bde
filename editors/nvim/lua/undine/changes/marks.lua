--- Draws a file's changes into its buffer: the lines that came are coloured and have a sign, the accepted lines in
--- their place stand above as virtual lines.
---
--- The marks are extmarks, so that they move with what is typed. What looks the same at the same place is left as it
--- is: a list after each key costs a look at each hunk and no drawing.
local config = require("undine.config")
local render = require("undine.changes.render")
local state = require("undine.state")

local M = {}

---@param buf integer
---@param row integer
---@param opts vim.api.keyset.set_extmark
---@return integer id
local function put(buf, row, opts)
  return vim.api.nvim_buf_set_extmark(buf, state.changes_ns, row, 0, opts)
end

---@param buf integer
---@param drawn undine.DrawnHunk
local function take_away(buf, drawn)
  vim.api.nvim_buf_del_extmark(buf, state.changes_ns, drawn.id)
  for _, id in ipairs(drawn.others) do
    vim.api.nvim_buf_del_extmark(buf, state.changes_ns, id)
  end
end

--- Where a hunk that was drawn stands now.
---@param buf integer
---@param drawn undine.DrawnHunk
---@return integer first row
---@return integer last row behind its lines
function M.place(buf, drawn)
  local details = { details = drawn.n_lines > 0 }
  local mark = vim.api.nvim_buf_get_extmark_by_id(buf, state.changes_ns, drawn.id, details)
  local first = mark[1] or 0
  return first, mark[3] and mark[3].end_row or first
end

--- Whether it is drawn already, where it belongs.
---@param buf integer
---@param drawn undine.DrawnHunk
---@param look undine.Look
---@param n_rows integer
local function is_in_place(buf, drawn, look, n_rows)
  local row = render.lines_of(look.hunk)
  local first, last = M.place(buf, drawn)
  return first == math.min(row, n_rows - 1)
    and last == (look.n_lines > 0 and math.min(row + look.n_lines, n_rows) or first)
end

--- What was drawn, to be found by its look; equal hunks in their order.
---@param drawn undine.Drawn?
---@return table<string, undine.DrawnHunk[]>
local function by_look(drawn)
  local found = vim.defaulttable()
  for _, it in ipairs(drawn and drawn.hunks or {}) do
    table.insert(found[it.look], it)
  end
  return found
end

---@param buf integer
---@param change undine.Change
---@param before undine.Drawn?
---@param is_beside boolean
---@return integer? id
local function draw_top(buf, change, before, is_beside)
  local kind = change.file.change
  if before and before.top then
    vim.api.nvim_buf_del_extmark(buf, state.changes_ns, before.top)
  end
  if kind and not is_beside then
    local line = { { render.top_line(kind), "UndineHint" } }
    return put(buf, 0, { virt_lines = { line }, virt_lines_above = true, priority = 10 })
  end
end

---@param buf integer
local function make_room(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    require("undine.windows").make_room(win)
  end
end

--- Sets up a buffer that shows changes for the first time.
---@param buf integer
---@return (fun())[] undo
local function begin(buf)
  require("undine.highlights").define()
  local undo = require("undine.changes.keys").set(buf)
  local function watch(event, run)
    local id = vim.api.nvim_create_autocmd(event, { buffer = buf, callback = run })
    table.insert(undo, function()
      pcall(vim.api.nvim_del_autocmd, id)
    end)
  end
  watch("BufWinEnter", function()
    make_room(buf)
  end)
  watch("BufUnload", function()
    M.clear(buf)
  end)
  return undo
end

--- Draws the changes; they must be for the text that the buffer has.
---@param buf integer
---@param change undine.Change
---@return boolean is_drawn false when they do not fit into the buffer
function M.draw(buf, change)
  local options = config.get().changes
  local n_rows = vim.api.nvim_buf_line_count(buf)
  for _, hunk in ipairs(change.file.hunks) do
    local first, n_lines = render.lines_of(hunk)
    if first + n_lines > n_rows + 1 then
      return false
    end
  end

  local shape = {
    width = vim.o.columns,
    tabstop = vim.bo[buf].tabstop,
    max_lines = options.removed_lines,
    signs = options.signs,
  }
  local is_beside = state.diff ~= nil and state.diff.live == buf
  local before = state.drawn[buf]
  local old, hunks = by_look(before), {}
  for at, hunk in ipairs(change.file.hunks) do
    local look = render.look_of(hunk, change, is_beside)
    local name = render.name_of(look)
    local known = table.remove(old[name], 1)
    if known and is_in_place(buf, known, look, n_rows) then
      known.hunk = hunk
      hunks[at] = known
    else
      if known then
        take_away(buf, known)
      end
      local ids = {}
      for _, mark in ipairs(render.render(look, n_rows, shape)) do
        table.insert(ids, put(buf, mark.row, mark.opts))
      end
      local id = table.remove(ids, 1)
      hunks[at] = { hunk = hunk, n_lines = look.n_lines, look = name, id = id, others = ids }
    end
  end
  for _, left in pairs(old) do
    for _, it in ipairs(left) do
      take_away(buf, it)
    end
  end

  state.drawn[buf] = {
    change = change,
    hunks = hunks,
    top = draw_top(buf, change, before, is_beside),
    undo_keys = before and before.undo_keys or begin(buf),
  }
  make_room(buf)
  return true
end

--- Takes away every mark and key.
---@param buf integer
function M.clear(buf)
  local drawn = state.drawn[buf]
  if not drawn then
    return
  end
  state.drawn[buf] = nil
  for _, undo in ipairs(drawn.undo_keys) do
    undo()
  end
  if vim.api.nvim_buf_is_loaded(buf) then
    vim.api.nvim_buf_clear_namespace(buf, state.changes_ns, 0, -1)
  end
end

--- The drawn hunks that touch these rows; one from which lines were only removed stands at the row that follows it.
---@param buf integer
---@param first integer
---@param last integer
---@return undine.DrawnHunk[]
function M.at(buf, first, last)
  local drawn = state.drawn[buf]
  return vim
    .iter(drawn and drawn.hunks or {})
    :filter(function(it)
      local from, to = M.place(buf, it)
      return from <= last and first < math.max(to, from + 1)
    end)
    :totable()
end

return M
