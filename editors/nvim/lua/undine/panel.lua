--- A float that shows a call whole and takes the answer by key.
local config = require("undine.config")
local state = require("undine.state")

local M = {}

--- A change that could not be shown in its file is shown here, whole.
---@param diff table
---@return string[] lines
local function diff_lines(diff)
  local lines = { diff.path }
  local text = vim.diff(diff.oldText or "", diff.newText or "", { ctxlen = 3 })
  return vim.list_extend(lines, vim.split(vim.trim(text --[[@as string]]), "\n"))
end

---@param call table
---@return string[] lines everything the call says of itself
local function body(call)
  local lines = {}
  for _, part in ipairs(call.content or {}) do
    local of_part = part.type == "diff" and diff_lines(part)
      or require("undine.transcript").output_lines({ content = { part } })
    vim.list_extend(lines, of_part)
  end
  local command = vim.tbl_get(call, "rawInput", "command")
  if type(command) == "table" then
    command = table.concat(command, " ")
  end
  if type(command) == "string" and not table.concat(lines, "\n"):find(command, 1, true) then
    lines = vim.list_extend(vim.split(command, "\r?\n"), lines)
  end
  return lines
end

--- What the panel says. Pure.
---@param params table of `session/request_permission`
---@return string[] lines
---@return undine.Mark[] marks
function M.render(params)
  local call = params.toolCall or {}
  local lines, marks = {}, {}
  local function put(line, hl)
    table.insert(lines, line)
    if hl then
      table.insert(marks, { row = #lines - 1, col = 0, end_col = #line, hl = hl })
    end
  end
  for _, line in ipairs(vim.split(call.title or "Undine asks", "\r?\n")) do
    put(line, "UndineAsk")
  end
  local reason = require("undine.approvals").reason(params)
  if reason then
    put(reason)
  end
  put("")
  for _, line in ipairs(body(call)) do
    put("  " .. line)
  end
  if lines[#lines] ~= "" then
    put("")
  end
  for at, option in ipairs(params.options or {}) do
    local escape = option.kind == "reject_once" and ", Esc" or ""
    put(("%d%s  %s"):format(at, escape, option.name or option.optionId))
  end
  put("r  No, and say why")
  return lines, marks
end

---@param lines string[]
---@param width integer
---@return integer rows the lines take when they are wrapped
local function wrapped_height(lines, width)
  return vim.iter(lines):fold(0, function(sum, line)
    return sum + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end)
end

---@param buf integer
---@param ask undine.Ask
local function map_keys(buf, ask)
  local approvals = require("undine.approvals")
  local function map(key, run)
    vim.keymap.set("n", key, run, { buffer = buf, nowait = true })
  end
  for at, option in ipairs(ask.params.options or {}) do
    map(tostring(at), function()
      approvals.select(ask, option)
    end)
  end
  local function refuse()
    approvals.refuse(ask)
  end
  map("<Esc>", refuse)
  map("q", refuse)
  map("r", function()
    approvals.refuse_with_reason(ask)
  end)
  local keys = config.get().keys
  if keys.stop then
    map(keys.stop, require("undine.session").stop)
  end
end

---@param ask undine.Ask
---@return boolean
function M.is_open(ask)
  local panel = state.panel
  return panel ~= nil and panel.ask == ask and vim.api.nvim_win_is_valid(panel.win)
end

--- Whether it is open on the tab page one looks at.
---@param ask undine.Ask
---@return boolean
function M.is_in_sight(ask)
  local here = vim.api.nvim_get_current_tabpage()
  return M.is_open(ask) and vim.api.nvim_win_get_tabpage(state.panel.win) == here
end

--- The keys in the panel work only while the cursor is there.
---@param is_entered boolean
---@return string
local function title(is_entered)
  return is_entered and " Undine asks " or " Undine asks, :UndineReview to answer "
end

--- Opens the panel; the cursor goes there only when `is_entered`.
---@param ask undine.Ask
---@param is_entered boolean
function M.open(ask, is_entered)
  if M.is_open(ask) then
    if is_entered then
      vim.api.nvim_set_current_win(state.panel.win)
    end
    return
  end
  local lines, marks = M.render(ask.params)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for _, mark in ipairs(marks) do
    vim.api.nvim_buf_set_extmark(buf, state.ns, mark.row, mark.col, {
      end_col = mark.end_col,
      hl_group = mark.hl,
    })
  end
  vim.bo[buf].modifiable = false

  local width = math.max(20, math.min(90, vim.o.columns - 4))
  local height = math.min(wrapped_height(lines, width), math.max(3, vim.o.lines - 6))
  local win = vim.api.nvim_open_win(buf, is_entered, {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - vim.o.cmdheight - 1,
    col = vim.o.columns,
    width = width,
    height = height,
    style = "minimal",
    border = "rounded",
    title = title(is_entered),
  })
  vim.wo[win].wrap, vim.wo[win].linebreak = true, false
  map_keys(buf, ask)
  vim.api.nvim_create_autocmd({ "WinEnter", "WinLeave" }, {
    buffer = buf,
    callback = function(event)
      vim.api.nvim_win_set_config(win, { title = title(event.event == "WinEnter") })
    end,
  })
  state.panel = { win = win, buf = buf, ask = ask }
end

---@param ask undine.Ask
function M.close(ask)
  local panel = state.panel
  if panel and panel.ask == ask then
    state.panel = nil
    pcall(vim.api.nvim_win_close, panel.win, true)
  end
end

return M
