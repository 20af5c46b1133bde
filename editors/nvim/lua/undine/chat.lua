--- The chat: the transcript above, a small buffer to write in below.
local client_of = require("undine.client")
local config = require("undine.config")
local highlights = require("undine.highlights")
local session_of = require("undine.session")
local state = require("undine.state")
local transcript = require("undine.transcript")

local M = {}

--- Shortest time between two drawings, in milliseconds.
local frame = 50

---@param buf integer
---@return integer[] wins in which the buffer is shown
local function windows(buf)
  return vim.fn.win_findbuf(buf)
end

--- The first window of the current tab page that shows the buffer.
---@param buf integer
---@return integer?
local function window_here(buf)
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):find(function(win)
    return vim.api.nvim_win_get_buf(win) == buf
  end)
end

--- Replaces only the lines that differ, so that folds, marks and cursors elsewhere stay.
---@param buf integer
---@param old string[]
---@param new string[]
---@return integer first row (0-based) that may have changed
local function put_lines(buf, old, new)
  local first = 1
  while first <= #old and first <= #new and old[first] == new[first] do
    first = first + 1
  end
  local old_last, new_last = #old, #new
  while old_last >= first and new_last >= first and old[old_last] == new[new_last] do
    old_last, new_last = old_last - 1, new_last - 1
  end
  if old_last >= first or new_last >= first then
    vim.bo[buf].modifiable = true
    local lines = vim.list_slice(new, first, new_last)
    vim.api.nvim_buf_set_lines(buf, first - 1, #old == 0 and -1 or old_last, false, lines)
    vim.bo[buf].modifiable = false
    vim.bo[buf].modified = false
  end
  return first - 1
end

---@param session undine.Session?
---@return string
function M.status(session)
  if not session then
    return "Undine  starting"
  end
  local words = { "Undine" }
  if session.mode then
    table.insert(words, session.mode)
  end
  local ask = state.asks[1]
  if ask then
    table.insert(words, ("waiting for you (%d)"):format(#state.asks))
  elseif session.n_running > 0 then
    table.insert(words, "working")
  end
  table.insert(words, require("undine.retry").words(session))
  local usage = session.usage
  if usage and usage.used and (usage.size or 0) > 0 then
    table.insert(words, ("%d%% of the context"):format(math.floor(100 * usage.used / usage.size)))
  end
  if usage and usage.cost and usage.cost ~= "$0.00" then
    table.insert(words, usage.cost)
  end
  return table.concat(words, "  ")
end

--- Whether the window's cursor stands on the last line, so that it follows what is written.
---@param win integer
local function is_following(win)
  local buf = vim.api.nvim_win_get_buf(win)
  local is_selecting = win == vim.api.nvim_get_current_win() and vim.fn.mode():match("^[vV\22]")
  return not is_selecting
    and vim.api.nvim_win_get_cursor(win)[1] == vim.api.nvim_buf_line_count(buf)
end

--- Draws the session that is shown.
function M.draw()
  local view = state.view
  if not view or not vim.api.nvim_buf_is_valid(view.transcript) then
    return
  end
  view.is_due, view.drawn_at = false, vim.uv.now()

  local session = state.shown()
  local lines, marks, owners = {}, {}, {}
  if session then
    lines, marks, owners = transcript.render(session, view.cache)
  end

  local buf = view.transcript
  local following = vim.iter(windows(buf)):filter(is_following):totable()
  local first = put_lines(buf, view.lines, lines)
  view.lines, view.owners = lines, owners
  vim.api.nvim_buf_clear_namespace(buf, state.ns, first, -1)
  for _, mark in ipairs(marks) do
    if mark.row >= first then
      vim.api.nvim_buf_set_extmark(buf, state.ns, mark.row, mark.col, {
        end_col = mark.end_col,
        hl_group = mark.hl,
        priority = 200,
      })
    end
  end
  for _, win in ipairs(following) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
  local bar = M.status(session):gsub("%%", "%%%%")
  for _, win in ipairs(windows(buf)) do
    vim.wo[win].winbar = bar
  end
end

--- Gathers what comes: one drawing a frame, however many updates.
function M.schedule_draw()
  local view = state.view
  if not view or view.is_due then
    return
  end
  view.is_due = true
  local wait = math.max(0, math.ceil(view.drawn_at + frame - vim.uv.now()))
  vim.defer_fn(M.draw, wait)
end

--- Folds or unfolds what stands at the cursor of the transcript.
local function toggle()
  local view, session = state.view, state.shown()
  if not view or not session then
    return
  end
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  if view.owners[row] and transcript.toggle(session, view.owners[row]) then
    M.draw()
  end
end

--- Sends what is written in the prompt and empties it. While the server starts the text stays, so that none is lost.
function M.send()
  local view = state.view
  if not view or not vim.api.nvim_buf_is_valid(view.prompt) or view.is_sending then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(view.prompt, 0, -1, false)
  local text = vim.trim(table.concat(lines, "\n"))
  if text == "" then
    return
  end
  vim.cmd.stopinsert()
  M.follow()
  view.is_sending = true
  session_of.with(view.root, function(session)
    view.is_sending = false
    if not session then
      return
    end
    if vim.api.nvim_buf_is_valid(view.prompt) then
      vim.api.nvim_buf_set_lines(view.prompt, 0, -1, false, {})
    end
    M.show(session)
    session_of.prompt(session, text)
  end)
end

--- Puts the transcript's cursor at its end: whoever sends wants to see the answer.
function M.follow()
  local view = state.view
  for _, win in ipairs(view and windows(view.transcript) or {}) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(view.transcript), 0 })
  end
end

---@param buf integer
---@param mode string
---@param key string|false
---@param run fun()
---@param desc string
local function map(buf, mode, key, run, desc)
  if key then
    vim.keymap.set(mode, key, run, { buffer = buf, nowait = true, desc = "Undine: " .. desc })
  end
end

---@param buf integer
local function map_answers(buf)
  local keys = config.get().keys
  local approvals = function(name, arg)
    return function()
      require("undine.approvals")[name](arg)
    end
  end
  map(buf, "n", keys.accept, approvals("accept", ""), "allow")
  map(buf, "n", keys.accept_session, approvals("accept", "session"), "allow in this session")
  map(buf, "n", keys.reject, approvals("reject", ""), "refuse")
  map(buf, "n", keys.next_hunk, approvals("show"), "go to the change")
  map(buf, "n", keys.stop, session_of.stop, "stop the turn")
end

---@param name string
---@param filetype string
---@return integer buf
local function scratch(name, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = filetype
  return buf
end

---@return undine.View
local function make_view()
  highlights.define()
  local view = {
    transcript = scratch("undine://chat", "undine"),
    prompt = scratch("undine://prompt", "undine-prompt"),
    lines = {},
    owners = {},
    cache = setmetatable({}, { __mode = "k" }),
    drawn_at = 0,
    is_due = false,
    root = vim.fn.getcwd(),
  }
  vim.bo[view.transcript].modifiable = false
  vim.bo[view.transcript].undolevels = -1
  pcall(vim.treesitter.start, view.transcript, "markdown")

  local keys = config.get().keys
  map_answers(view.transcript)
  map_answers(view.prompt)
  map(view.transcript, "n", keys.toggle, toggle, "fold or unfold")
  map(view.prompt, "n", keys.send, M.send, "send")
  map(view.prompt, "i", keys.send_insert, M.send, "send")
  map(view.prompt, "n", keys.earlier, function()
    require("undine.sessions").earlier()
  end, "search earlier prompts")
  map(view.prompt, "n", keys.detach, function()
    require("undine.background").detach()
  end, "move what the turn waits for to the background")
  require("undine.completion").attach(view.prompt)
  for _, buf in ipairs({ view.transcript, view.prompt }) do
    state.on_wipeout(buf, function()
      if state.view == view then
        state.view = nil
      end
    end)
  end
  state.view = view
  return view
end

--- The two windows are one panel: closing either closes the other.
---@param wins integer[]
local function close_together(wins)
  for at, win in ipairs(wins) do
    vim.api.nvim_create_autocmd("WinClosed", {
      pattern = tostring(win),
      once = true,
      callback = vim.schedule_wrap(function()
        pcall(vim.api.nvim_win_close, wins[3 - at], true)
      end),
    })
  end
end

---@param win integer
local function dress(win)
  local wo = vim.wo[win]
  wo.number, wo.relativenumber, wo.signcolumn, wo.foldcolumn = false, false, "no", "0"
  wo.wrap, wo.linebreak, wo.spell, wo.list, wo.cursorline = true, true, false, false, false
  wo.winfixbuf = true
end

---@param view undine.View
local function open_windows(view)
  local options = config.get().chat
  local is_bottom = options.position == "bottom"
  local whole = is_bottom and vim.o.lines or vim.o.columns
  local size = math.max(10, math.floor(whole * options.size))
  local split = ({ right = "right", left = "left", bottom = "below" })[options.position]
  local top = vim.api.nvim_open_win(view.transcript, false, {
    split = split,
    win = -1,
    width = not is_bottom and size or nil,
    height = is_bottom and size or nil,
  })
  local bottom = vim.api.nvim_open_win(view.prompt, true, {
    split = "below",
    win = top,
    height = options.prompt_height,
  })
  dress(top)
  dress(bottom)
  vim.wo[is_bottom and bottom or top].winfixwidth = not is_bottom
  vim.wo[bottom].winfixheight = true
  local keys = config.get().keys
  vim.wo[bottom].winbar = ("%s send, in insert %s, stop %s"):format(
    keys.send or ":lua",
    keys.send_insert or "-",
    keys.stop or ":UndineStop"
  )
  close_together({ top, bottom })
end

--- Shows this session in the chat.
---@param session undine.Session
function M.show(session)
  if not state.view then
    return
  end
  if state.view.session ~= session.id then
    state.view.session = session.id
    state.view.root = session.cwd
    M.follow()
  end
  M.schedule_draw()
end

--- Whether the current window belongs to the chat.
---@return boolean
function M.is_current()
  local buf = vim.api.nvim_get_current_buf()
  return state.view ~= nil and (buf == state.view.transcript or buf == state.view.prompt)
end

--- Opens the chat and starts the server and a session where there is none. Words given are sent.
---@param args? { text?: string }
function M.open(args)
  local missing = client_of.missing(config.get().cmd)
  if missing then
    vim.notify("Undine: " .. missing .. ".", vim.log.levels.ERROR)
    return
  end

  local root = not M.is_current() and client_of.root(vim.api.nvim_get_current_buf())
  local view = state.view or make_view()
  view.root = root or view.root
  local win = window_here(view.prompt)
  if win then
    vim.api.nvim_set_current_win(win)
  else
    local rest = window_here(view.transcript)
    if rest then
      vim.api.nvim_win_close(rest, true)
    end
    open_windows(view)
  end
  M.draw()

  session_of.with(view.root, function(session)
    if not session then
      return
    end
    M.show(session)
    if args and args.text and args.text ~= "" then
      session_of.prompt(session, args.text)
    end
  end)
  require("undine.approvals").present()
end

return M
