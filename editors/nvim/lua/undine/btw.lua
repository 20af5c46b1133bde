--- Side questions: asked beside the conversation, answered in a window of their own, kept nowhere else.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

---@class undine.Aside
---@field question string
---@field text string the answer so far
---@field failed? string why there is none
---@field token? string names it in what streams
---@field is_done? boolean

---@class undine.BtwView
---@field buf? integer
---@field win? integer
---@field at integer which of the session's questions is shown
---@field session_id? string
---@field n_asked integer counts questions, for their tokens

local view = state.btw

---@param text string
local function tell(text)
  vim.notify("Undine: " .. text, vim.log.levels.WARN)
end

---@param session undine.Session
---@return undine.Aside[]
local function asides(session)
  session.asides = session.asides or {}
  return session.asides
end

--- The lines of one question and its answer. Pure.
---@param aside undine.Aside
---@param at integer
---@param n integer
---@return string[]
function M.lines(aside, at, n)
  local lines = { ("# %s"):format(aside.question:gsub("%s+", " ")), "" }
  if aside.failed then
    table.insert(lines, "Error: " .. aside.failed)
  else
    local text = aside.text ~= "" and aside.text or (aside.is_done and "" or "...")
    vim.list_extend(lines, vim.split(text, "\n"))
  end
  vim.list_extend(lines, { "", ("(%d of %d: [ older, ] newer, y copy, C clear, q close)"):format(at, n) })
  return lines
end

local function draw()
  local session = view.session_id and state.sessions[view.session_id]
  if not session or not view.buf or not vim.api.nvim_buf_is_valid(view.buf) then
    return
  end
  local all = asides(session)
  local aside = all[view.at]
  local lines = aside and M.lines(aside, view.at, #all) or { "No question was asked beside this session." }
  vim.bo[view.buf].modifiable = true
  vim.api.nvim_buf_set_lines(view.buf, 0, -1, false, lines)
  vim.bo[view.buf].modifiable = false
end

---@param step integer
local function move(step)
  local session = view.session_id and state.sessions[view.session_id]
  if session then
    view.at = math.max(1, math.min(#asides(session), view.at + step))
    draw()
  end
end

local function copy()
  local session = view.session_id and state.sessions[view.session_id]
  local aside = session and asides(session)[view.at]
  if aside then
    vim.fn.setreg('"', aside.text)
    if vim.fn.has("clipboard") == 1 then
      vim.fn.setreg("+", aside.text)
    end
  end
end

--- Forgets what was asked, here and in the server: the next question is asked without it.
local function clear()
  local session = view.session_id and state.sessions[view.session_id]
  local client = session and client_of.of(session)
  if session and client then
    client:request("undine/btw/clear", { sessionId = session.id }, function(err)
      if err then
        tell(client_of.error_line(err))
      end
    end)
    session.asides, view.at = {}, 0
    draw()
  end
end

local function close()
  if view.win and vim.api.nvim_win_is_valid(view.win) then
    vim.api.nvim_win_close(view.win, true)
  end
  view.win = nil
end

---@param session undine.Session
local function open(session)
  view.session_id = session.id
  if not view.buf or not vim.api.nvim_buf_is_valid(view.buf) then
    view.buf = vim.api.nvim_create_buf(false, true)
    vim.bo[view.buf].filetype = "markdown"
    vim.bo[view.buf].modifiable = false
    local keys = {
      ["["] = function()
        move(-1)
      end,
      ["]"] = function()
        move(1)
      end,
      y = copy,
      C = clear,
      q = close,
      ["<Esc>"] = close,
    }
    for key, run in pairs(keys) do
      vim.keymap.set("n", key, run, { buffer = view.buf, nowait = true, desc = "Undine: side questions" })
    end
  end
  if not view.win or not vim.api.nvim_win_is_valid(view.win) then
    local width = math.min(90, math.max(20, vim.o.columns - 8))
    local height = math.min(20, math.max(5, vim.o.lines - 8))
    view.win = vim.api.nvim_open_win(view.buf, true, {
      relative = "editor",
      width = width,
      height = height,
      row = math.floor((vim.o.lines - height) / 2),
      col = math.floor((vim.o.columns - width) / 2),
      border = "rounded",
      title = " Beside the conversation ",
    })
    vim.wo[view.win].wrap = true
  end
  draw()
end

--- Asks beside the session that is shown; without words it shows what was asked.
---@param question string
function M.ask(question)
  local session = state.shown()
  local client = session and client_of.of(session)
  if not session or not client then
    tell("there is no session yet; :Undine starts one.")
    return
  end
  local all = asides(session)
  if question == "" then
    view.at = #all
    open(session)
    return
  end
  view.n_asked = view.n_asked + 1
  local aside = { question = question, text = "", token = ("btw-%d"):format(view.n_asked) }
  table.insert(all, aside)
  view.at = #all
  open(session)
  local params = { sessionId = session.id, question = question, token = aside.token }
  client:request("undine/btw", params, function(err, result)
    aside.is_done = true
    if err then
      aside.failed = client_of.error_line(err)
    else
      aside.text = result.text
      if #(result.called or {}) > 0 then
        aside.text = ("%s\n\n(It called %s; nothing was run.)"):format(
          aside.text,
          table.concat(result.called, ", ")
        )
      end
    end
    draw()
  end)
end

--- Answers `undine/btw/chunk`.
---@param params agent.BtwChunk
---@param client_id integer
function M.received(params, client_id)
  local session = state.session(params.sessionId, client_id)
  for _, aside in ipairs(asides(session)) do
    if aside.token == params.token and not aside.is_done then
      aside.text = aside.text .. params.text
      draw()
    end
  end
end

return M
