--- A file's accepted text beside the live one, in a tab page of its own, and from there on to the next file.
local changes = require("undine.changes")
local client_of = require("undine.client")
local config = require("undine.config")
local hunks_of = require("undine.hunks")
local state = require("undine.state")

local M = {}

--- Whether the current tab page is the one that compares.
---@return boolean
function M.is_here()
  local diff = state.diff
  return diff ~= nil and diff.tab == vim.api.nvim_get_current_tabpage()
end

---@param buf integer
---@param lines string[]
local function put(buf, lines)
  if vim.deep_equal(vim.api.nvim_buf_get_lines(buf, 0, -1, false), lines) then
    return
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Calls `run` with the lines of the accepted text; with nil, once a person was told why, when there is none.
---@param change undine.Change
---@param run fun(lines?: string[])
local function with_base(change, run)
  local client = vim.lsp.get_client_by_id(change.client_id)
  if not client then
    run(nil)
    return
  end
  client:request("undine/review/base", { uri = change.file.uri }, function(err, result)
    if err then
      vim.notify("Undine: " .. client_of.error_line(err), vim.log.levels.WARN)
      run(nil)
      return
    end
    run(hunks_of.split(result.text))
  end)
end

--- A buffer for the accepted text, named after the file, gone with its window.
---@param change undine.Change
---@param filetype string
---@return integer buf
local function base_buffer(change, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  pcall(vim.api.nvim_buf_set_name, buf, "undine://accepted" .. change.path)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].filetype = filetype
  vim.bo[buf].modifiable = false
  for _, it in ipairs(require("undine.changes.keys").all) do
    local key = config.get().keys[it.option]
    if key and (it.option == "next_file" or it.option == "prev_file") then
      vim.keymap.set("n", key, it.run, { buffer = buf, desc = "Undine: " .. it.desc })
    end
  end
  return buf
end

--- The buffer of the file as it is; an empty one of our own when it was deleted.
---@param change undine.Change
---@return integer buf
local function live_buffer(change)
  local buf = require("undine.documents").loaded(change.file.uri)
  if not buf and change.file.change == "deleted" then
    buf = vim.api.nvim_create_buf(false, true)
    vim.bo[buf].bufhidden = "wipe"
    vim.bo[buf].modifiable = false
    return buf
  end
  return buf or changes.buffer(change)
end

--- Compares a file: the accepted text on the left, the live one on the right with the cursor.
---@param change undine.Change
local function open(change)
  with_base(change, function(lines)
    if not lines then
      return
    end
    local live = live_buffer(change)
    if M.is_here() then
      vim.cmd("silent only")
      vim.cmd.diffoff()
      vim.api.nvim_win_set_buf(0, live)
    else
      vim.cmd.tabnew()
      local empty = vim.api.nvim_get_current_buf()
      vim.api.nvim_win_set_buf(0, live)
      vim.api.nvim_buf_delete(empty, {})
    end
    local right = vim.api.nvim_get_current_win()
    local base = base_buffer(change, vim.bo[live].filetype)
    put(base, lines)
    local left = vim.api.nvim_open_win(base, false, { split = "left", win = right })
    for _, win in ipairs({ left, right }) do
      vim.api.nvim_win_call(win, vim.cmd.diffthis)
    end
    -- Both, so that the lines stand at the same height.
    local name = vim.fn.fnamemodify(change.path, ":~:."):gsub("%%", "%%%%")
    vim.wo[left].winbar, vim.wo[right].winbar = "Accepted: " .. name, "Now: " .. name
    local key = changes.key(change)
    state.diff = {
      tab = vim.api.nvim_get_current_tabpage(),
      base = base,
      live = live,
      key = key,
      path = change.path,
    }
    -- Lines that stand in no buffer would bring the two out of step.
    changes.redraw(key)
    state.on_wipeout(base, function()
      if state.diff and state.diff.base == base then
        state.diff = nil
      end
      changes.redraw(key)
    end)
    local first = change.file.hunks[1]
    if first then
      require("undine.windows").reveal(right, first.range.start.line)
    end
  end)
end

--- Opens the comparison: of the current file if it has changes, else of the first that has.
function M.open()
  local all = changes.all()
  if #all == 0 then
    vim.notify("Undine: nothing waits to be reviewed.", vim.log.levels.INFO)
    return
  end
  if M.is_here() then
    M.walk(1)
    return
  end
  local drawn = state.drawn[vim.api.nvim_get_current_buf()]
  open(drawn and drawn.change or all[1])
end

--- Goes on to the file behind or before the one that is compared, and round.
---@param step 1|-1
function M.walk(step)
  local all = changes.all()
  if #all == 0 then
    vim.notify("Undine: nothing waits to be reviewed.", vim.log.levels.INFO)
    return
  end
  -- The file itself may have been judged meanwhile, and be none of them any more.
  local path = state.diff.path
  local next_at = step == 1 and 1 or #all
  for at = next_at, #all + 1 - next_at, step do
    local it = all[at].path
    if step == 1 and it > path or step == -1 and it < path then
      next_at = at
      break
    end
  end
  open(all[next_at])
end

--- Brings the accepted text up to date: a change that was kept is part of it.
function M.update()
  local diff = state.diff
  if not diff then
    return
  end
  if not vim.api.nvim_tabpage_is_valid(diff.tab) or not vim.api.nvim_buf_is_valid(diff.base) then
    state.diff = nil
    return
  end
  local function show(lines)
    if lines and vim.api.nvim_buf_is_valid(diff.base) then
      put(diff.base, lines)
    end
  end
  local change = state.changes[diff.key]
  if change then
    with_base(change, show)
    return
  end
  -- With nothing left to judge, the accepted text is the live one.
  local uri = diff.key:match("^%d+ (.*)$")
  local live = require("undine.documents").loaded(uri)
  show(live and vim.api.nvim_buf_get_lines(live, 0, -1, false))
end

return M
