--- Shows a proposed change in the files it is about, and goes through its places.
local config = require("undine.config")
local proposals = require("undine.proposals")
local state = require("undine.state")

local M = {}

--- Virtual lines above the first line of the buffer.
---@param buf integer
---@return integer
local function n_above(buf)
  local marks = vim.api.nvim_buf_get_extmarks(buf, state.ns, 0, { 0, -1 }, { details = true })
  return vim.iter(marks):fold(0, function(sum, mark)
    return sum + (mark[4].virt_lines_above and #(mark[4].virt_lines or {}) or 0)
  end)
end

--- Puts the window's cursor on a hunk and the hunk into the middle.
---@param win integer
---@param buf integer
---@param at integer
local function reveal(win, buf, at)
  local row = proposals.anchor_row(buf, at)
  vim.api.nvim_win_set_cursor(win, { row + 1, 0 })
  vim.api.nvim_win_call(win, function()
    vim.cmd("normal! zz")
    -- Virtual lines above the first line are out of sight unless the view is told to leave room.
    if row == 0 then
      local room = vim.api.nvim_win_get_height(win) - 1
      vim.fn.winrestview({ topline = 1, topfill = math.min(n_above(buf), room) })
    end
  end)
end

--- A window for files: the one before, else another that shows one, else a new one beside the chat.
---@param buf integer
---@return integer win
local function file_window(buf)
  local function is_fit(win)
    return vim.api.nvim_win_get_config(win).relative == ""
      and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == ""
      and not vim.wo[win].winfixbuf
  end
  local before = vim.fn.win_getid(vim.fn.winnr("#"))
  local wins = vim.list_extend({ before }, vim.api.nvim_tabpage_list_wins(0))
  local win = vim.iter(wins):find(function(it)
    return it ~= 0 and is_fit(it)
  end)
  if win and pcall(vim.api.nvim_win_set_buf, win, buf) then
    return win
  end
  return vim.api.nvim_open_win(buf, false, { split = "left", win = -1 })
end

---@param buf integer
---@return integer? win of this tab page
local function window_of(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.api.nvim_win_get_buf(win) == buf
  end)
end

--- Shows the change in its files. The cursor stays; a file comes into sight by itself only beside the chat.
---@param ask undine.Ask
---@return boolean is_shown false when there is no difference to show inline
function M.present(ask)
  local bufs = proposals.draw_all(ask)
  if #bufs == 0 then
    return false
  end
  local first = bufs[1]
  if window_of(first) then
    return true
  end
  if config.get().show_proposals and require("undine.chat").is_current() then
    reveal(file_window(first), first, 1)
  else
    local name = vim.fn.fnamemodify(state.proposals[first].path, ":~:.")
    vim.notify(("Undine proposes a change to %s; :UndineReview shows it."):format(name))
  end
  return true
end

--- Goes to the change: into its window, at its first place.
---@param ask undine.Ask
---@return boolean is_shown
function M.go(ask)
  local bufs = proposals.live_bufs(ask)
  if #bufs == 0 then
    bufs = proposals.draw_all(ask)
  end
  if #bufs == 0 then
    return false
  end
  local win = window_of(bufs[1]) or file_window(bufs[1])
  vim.api.nvim_set_current_win(win)
  reveal(win, bufs[1], 1)
  return true
end

--- Whether a changed place of it is on the screen.
---@param ask undine.Ask
---@return boolean
function M.is_in_sight(ask)
  for _, buf in ipairs(proposals.live_bufs(ask)) do
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      if vim.api.nvim_win_get_buf(win) == buf then
        local top, bottom = vim.fn.line("w0", win), vim.fn.line("w$", win)
        for at in ipairs(state.proposals[buf].anchors) do
          local line = proposals.anchor_row(buf, at) + 1
          if line >= top and line <= bottom then
            return true
          end
        end
      end
    end
  end
  return false
end

--- Goes to the next or the previous changed place, over the files of the change and round.
---@param step 1|-1
function M.jump(step)
  local ask = state.asks[1]
  local bufs = ask and proposals.live_bufs(ask) or {}
  local buf = vim.api.nvim_get_current_buf()
  if not vim.list_contains(bufs, buf) then
    require("undine.approvals").show()
    return
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local n = #state.proposals[buf].anchors
  local from, to = step == 1 and 1 or n, step == 1 and n or 1
  for at = from, to, step do
    if (proposals.anchor_row(buf, at) - row) * step > 0 then
      reveal(0, buf, at)
      return
    end
  end
  local here = vim.iter(ipairs(bufs)):find(function(_, it)
    return it == buf
  end)
  local other = bufs[(here - 1 + step) % #bufs + 1]
  if other ~= buf then
    vim.api.nvim_win_set_buf(0, other)
  end
  reveal(0, other, step == 1 and 1 or #state.proposals[other].anchors)
end

return M
