--- Shows a proposed change in the files it is about, goes through its places and chooses among them.
local config = require("undine.config")
local proposals = require("undine.proposals")
local state = require("undine.state")
local windows = require("undine.windows")

local M = {}

--- Puts the window's cursor on a hunk and the hunk into the middle.
---@param win integer
---@param buf integer
---@param at integer
local function reveal(win, buf, at)
  windows.reveal(win, proposals.anchor_row(buf, at))
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
  if windows.of(first) then
    return true
  end
  if config.get().show_proposals and require("undine.chat").is_current() then
    reveal(windows.for_file(first), first, 1)
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
  local win = windows.of(bufs[1]) or windows.for_file(bufs[1])
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

--- Chooses the place at the cursor, or leaves it out. Once every place is decided, that is the answer.
---@param is_accepted boolean
function M.choose(is_accepted)
  local approvals = require("undine.approvals")
  local ask, buf = state.asks[1], vim.api.nvim_get_current_buf()
  local proposal = state.proposals[buf]
  if not ask or not proposal or proposal.ask ~= ask then
    approvals.show()
    return
  end
  local hunk = proposals.hunk_at(buf, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not hunk or not hunk.id then
    local text = hunk and "this change can only be accepted or rejected whole."
      or "no place of the change is at the cursor."
    vim.notify("Undine: " .. text, vim.log.levels.INFO)
    return
  end
  ask.choices[hunk.id] = is_accepted
  proposals.redraw(ask)

  local n_accepted, n_open = 0, 0
  for _, it in ipairs(proposals.given(ask)) do
    n_accepted = n_accepted + (ask.choices[it.id] == true and 1 or 0)
    n_open = n_open + (ask.choices[it.id] == nil and 1 or 0)
  end
  if n_open > 0 then
    return
  elseif n_accepted == 0 then
    approvals.refuse_with_reason(ask)
  else
    approvals.accept("")
  end
end

---@type table<string, fun()>
local views = {
  waiting = function()
    require("undine.approvals").show()
  end,
  all = function()
    require("undine.changes.list").open()
  end,
  turn = function()
    local turn = require("undine.changes.actions").turn_here()
    if turn then
      require("undine.changes.list").open(turn)
    end
  end,
  diff = function()
    require("undine.changes.diff").open()
  end,
}

--- `:UndineReview`: what waits for an answer comes first, then what was done and waits to be judged.
---@param view string may be empty
function M.command(view)
  if view == "" then
    local is_asked = require("undine.approvals").current() ~= nil
    if not is_asked and next(state.changes) == nil then
      vim.notify("Undine: nothing waits for an answer or a review.", vim.log.levels.INFO)
      return
    end
    view = is_asked and "waiting" or "all"
  end
  if views[view] then
    views[view]()
  else
    local text = "Undine: `%s` is none of all, turn, diff, waiting."
    vim.notify(text:format(view), vim.log.levels.WARN)
  end
end

---@param lead string
---@return string[]
function M.complete(lead)
  return vim.tbl_filter(function(it)
    return vim.startswith(it, lead)
  end, { "all", "diff", "turn", "waiting" })
end

return M
