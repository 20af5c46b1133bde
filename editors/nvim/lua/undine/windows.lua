--- Windows for files: which one to use, how a place comes into sight, how a buffer leaves without taking windows along.
local M = {}

--- Virtual lines above the first line of the buffer.
---@param buf integer
---@return integer
local function n_above(buf)
  local marks = vim.api.nvim_buf_get_extmarks(buf, -1, 0, { 0, -1 }, { details = true })
  return vim.iter(marks):fold(0, function(sum, mark)
    return sum + (mark[4].virt_lines_above and #(mark[4].virt_lines or {}) or 0)
  end)
end

--- Lets virtual lines above the first line be seen in a window that shows it: they are out of sight unless the view is
--- told to leave room. The cursor's line stays in sight. (Where texts are compared, that room is for their alignment.)
---@param win integer
function M.make_room(win)
  if vim.wo[win].diff then
    return
  end
  vim.api.nvim_win_call(win, function()
    local view = vim.fn.winsaveview()
    local rest = vim.api.nvim_win_get_height(win) - view.lnum
    local room = math.max(0, math.min(n_above(vim.api.nvim_win_get_buf(win)), rest))
    if view.topline == 1 and view.topfill ~= room then
      vim.fn.winrestview({ topline = 1, topfill = room })
    end
  end)
end

--- Puts the window's cursor on a row (0-based) and the row into the middle.
---@param win integer
---@param row integer
function M.reveal(win, row)
  local n_lines = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win))
  vim.api.nvim_win_set_cursor(win, { math.min(row + 1, n_lines), 0 })
  vim.api.nvim_win_call(win, function()
    vim.cmd("normal! zz")
  end)
  if row == 0 then
    M.make_room(win)
  end
end

--- A window for files: the one before, else another that shows one, else a new one beside the chat.
---@param buf integer
---@return integer win
function M.for_file(buf)
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
function M.of(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.api.nvim_win_get_buf(win) == buf
  end)
end

--- Wipes a buffer; its windows go back to what they showed, so that none is lost.
---@param buf integer
function M.wipe(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local other = vim.fn.bufnr("#")
      if other > 0 and other ~= buf and vim.api.nvim_buf_is_loaded(other) then
        vim.cmd.buffer({ args = { other }, mods = { keepalt = true } })
      else
        vim.cmd.enew()
      end
    end)
  end
  vim.api.nvim_buf_delete(buf, { force = true })
end

return M
