--- What the server asks a person: may a call run, may an edit be made, a form to fill in.
---
--- Questions stand in one queue. The first is presented; the answer, a cancelled turn, a cancelled request or the end
--- of the call takes it away and the next one comes. Nothing here waits for a key.
local state = require("undine.state")

local M = {}

---@class undine.Ask
---@field kind "permission"|"form"
---@field client_id integer
---@field session_id string
---@field call_id? string the tool call it is about
---@field request_id? integer|string the id of the server's request, for `$/cancelRequest`
---@field params table
---@field answer fun(result: table) sends the result; only the first one counts
---@field is_shown boolean
---@field is_over boolean
---@field choices table<string, boolean> hunk id to whether the person wants it, for those they have chosen
---@field bufs? integer[] buffers in which the change is drawn
---@field autocommands? integer[] that watch these buffers

local cancelled = {
  permission = function()
    return { outcome = { outcome = "cancelled" } }
  end,
  form = function()
    return { action = "cancel" }
  end,
}

--- The id of the request that is being handled.
---
--- Neovim 0.11 and 0.12 do not hand it to a handler. The outermost function on its coroutine is the one that
--- decoded the message, which it holds as an upvalue; `_meta.undine.requestId` wins where a server gives it. Without
--- either the question leaves when its call or its turn ends.
---@param params table
---@return integer|string?
local function request_id(params)
  local given = vim.tbl_get(params, "_meta", "undine", "requestId")
  if given then
    return given
  end
  local outermost
  for level = 2, 30 do
    local info = debug.getinfo(level, "f")
    if not info then
      break
    end
    outermost = info.func
  end
  for at = 1, 60 do
    local name, value = debug.getupvalue(outermost, at)
    if not name then
      return nil
    end
    if name == "decoded" and type(value) == "table" then
      return value.id
    end
  end
end

local function redraw()
  require("undine.chat").schedule_draw()
end

---@param ask undine.Ask
local function leave_queue(ask)
  for at, it in ipairs(state.asks) do
    if it == ask then
      table.remove(state.asks, at)
      return
    end
  end
end

---@param ask undine.Ask
local function take_away(ask)
  require("undine.proposals").clear(ask)
  require("undine.panel").close(ask)
  redraw()
  vim.schedule(M.present)
end

--- Puts a question into the queue and lets its handler sleep until it is answered.
---@param kind "permission"|"form"
---@param params table
---@param client_id integer
---@return table result
local function wait_for_answer(kind, params, client_id)
  local thread = assert(coroutine.running(), "a request is handled in a coroutine")
  local ask = {
    kind = kind,
    client_id = client_id,
    session_id = params.sessionId,
    call_id = vim.tbl_get(params, "toolCall", "toolCallId") or params.toolCallId,
    request_id = request_id(params),
    params = params,
    is_shown = false,
    is_over = false,
    choices = {},
  }
  ask.answer = function(result)
    if ask.is_over then
      return
    end
    ask.is_over = true
    leave_queue(ask)
    -- The server gets its answer first, whatever becomes of the windows.
    local ok, problem = coroutine.resume(thread, result)
    if not ok then
      vim.lsp.log.error("undine: the answer could not be sent", problem)
    end
    take_away(ask)
  end
  table.insert(state.asks, ask)
  redraw()
  vim.schedule(M.present)
  return coroutine.yield()
end

--- Why the server asks, where the mode alone does not say it: a rule, a floor or the classifier.
---@param params table of `session/request_permission`
---@return string? reason in one line
function M.reason(params)
  local reason = vim.tbl_get(params, "_meta", "undine", "reason")
  if type(reason) ~= "string" or vim.trim(reason) == "" then
    return nil
  end
  return (vim.trim(reason):gsub("%s*[\r\n]+%s*", " "))
end

--- Answers `session/request_permission`.
---@param params table
---@param client_id integer
---@return table result
function M.permission(params, client_id)
  -- The call's title and content belong into the transcript too, where the session shows what waits.
  if params.toolCall then
    local session = state.session(params.sessionId, client_id)
    local update = vim.tbl_extend("force", params.toolCall, { sessionUpdate = "tool_call_update" })
    require("undine.transcript").reduce(session, update)
    local reason = M.reason(params)
    if reason then
      require("undine.transcript").add_note(session, "Asks: " .. reason, "UndineAsk")
    end
  end
  return wait_for_answer("permission", params, client_id)
end

--- Answers `elicitation/create`.
---@param params table
---@param client_id integer
---@return table result
function M.elicitation(params, client_id)
  if params.mode ~= nil and params.mode ~= "form" then
    return { action = "decline" }
  end
  if params.sessionId and params.message then
    local session = state.session(params.sessionId, client_id)
    require("undine.transcript").add_note(session, "Asks: " .. params.message, "UndineAsk")
  end
  return wait_for_answer("form", params, client_id)
end

--- The hunks that are left when some were left out.
---@param ask undine.Ask
---@return string[]? ids nil when the change was not cut down
local function accepted_hunks(ask)
  local ids, is_cut = {}, false
  for _, it in ipairs(require("undine.proposals").given(ask)) do
    if ask.choices[it.id] == false then
      is_cut = true
    else
      table.insert(ids, it.id)
    end
  end
  return is_cut and ids or nil
end

--- Answers with an option. A Yes to a change of which places were left out is a Yes to the others only.
---@param ask undine.Ask
---@param option table one of `params.options`
---@param note? string
function M.select(ask, option, note)
  local outcome, meta = { outcome = "selected", optionId = option.optionId }, {}
  meta.note = note ~= "" and note or nil
  if vim.startswith(option.kind or "", "allow") then
    meta.acceptedHunks = accepted_hunks(ask)
  end
  if meta.acceptedHunks and #meta.acceptedHunks == 0 then
    M.refuse(ask, note)
    return
  end
  outcome._meta = next(meta) and { undine = meta } or nil
  ask.answer({ outcome = outcome })
end

---@param ask undine.Ask
---@return table? option the one that says No this once
local function refusal(ask)
  return vim.iter(ask.params.options or {}):find(function(it)
    return it.kind == "reject_once"
  end)
end

--- Says No; where the request has no such option, it is answered as cancelled.
---@param ask undine.Ask
---@param note? string
function M.refuse(ask, note)
  local option = refusal(ask)
  if option then
    M.select(ask, option, note)
  else
    ask.answer(cancelled.permission())
  end
end

--- Asks for the reason of a No. Leaving the input with Esc leaves the question open.
---@param ask undine.Ask
function M.refuse_with_reason(ask)
  vim.ui.input({ prompt = "Why not? (may be empty) " }, function(reason)
    if reason then
      M.refuse(ask, vim.trim(reason))
    end
  end)
end

--- The permission that is presented.
---@return undine.Ask?
function M.current()
  local ask = state.asks[1]
  return ask and ask.kind == "permission" and ask or nil
end

---@return undine.Ask? ask nil once the person was told that there is none
local function current()
  local ask = M.current()
  if ask then
    return ask
  end
  vim.notify("Undine: nothing waits for a yes or no.", vim.log.levels.INFO)
end

--- Whether the person can see what they are about to allow.
---@param ask undine.Ask
local function is_in_sight(ask)
  return require("undine.panel").is_in_sight(ask) or require("undine.review").is_in_sight(ask)
end

--- Answers Yes, or with the option of this id. What is out of sight is first brought into sight.
---@param option_id string may be empty
function M.accept(option_id)
  local ask = current()
  if not ask then
    return
  end
  local option = vim.iter(ask.params.options or {}):find(function(it)
    return option_id == "" and it.kind == "allow_once" or it.optionId == option_id
  end)
  if not option then
    vim.notify(("Undine: this question has no answer `%s`."):format(option_id), vim.log.levels.WARN)
    return
  end
  if not is_in_sight(ask) then
    M.show()
    vim.notify("Undine: this is what waits; allow it again to say yes.", vim.log.levels.INFO)
    return
  end
  M.select(ask, option)
end

--- Answers No; without a note it asks for the reason.
---@param note string may be empty
function M.reject(note)
  local ask = current()
  if not ask then
    return
  end
  if note ~= "" then
    M.refuse(ask, note)
  else
    M.refuse_with_reason(ask)
  end
end

---@param lead string
---@return string[] option ids of what waits
function M.complete(lead)
  local ask = state.asks[1]
  return vim
    .iter(ask and ask.params.options or {})
    :map(function(it)
      return it.optionId
    end)
    :filter(function(it)
      return vim.startswith(it, lead)
    end)
    :totable()
end

--- Calls `run` as soon as no half-typed text can be taken for an answer.
---@param run fun()
local function when_idle(run)
  if vim.fn.mode() == "n" then
    run()
    return
  end
  vim.api.nvim_create_autocmd("ModeChanged", {
    pattern = "*:n",
    once = true,
    callback = vim.schedule_wrap(function()
      when_idle(run)
    end),
  })
end

--- Presents the first question, if it is not yet.
function M.present()
  local ask = state.asks[1]
  if not ask or ask.is_shown then
    return
  end
  ask.is_shown = true
  require("undine.highlights").define()
  if ask.kind == "form" then
    if vim.fn.mode() ~= "n" then
      vim.notify("Undine has a question; it comes when you leave this mode.", vim.log.levels.INFO)
    end
    when_idle(function()
      if not ask.is_over then
        require("undine.forms").run(ask.params, ask.answer)
      end
    end)
  else
    local ok, is_inline = pcall(require("undine.review").present, ask)
    if not ok then
      vim.lsp.log.error("undine: the change could not be shown in its file", is_inline)
    end
    if not ok or not is_inline then
      local is_free = require("undine.chat").is_current() and vim.fn.mode() == "n"
      require("undine.panel").open(ask, is_free)
    end
  end
  redraw()
end

--- Goes to what waits: the file with the change, or the panel.
function M.show()
  local ask = current()
  if not ask then
    return
  end
  ask.is_shown = true
  if not require("undine.review").go(ask) then
    require("undine.panel").open(ask, true)
  end
end

---@param test fun(ask: undine.Ask): boolean
local function cancel_where(test)
  for _, ask in ipairs(vim.iter(state.asks):filter(test):totable()) do
    ask.answer(cancelled[ask.kind]())
  end
end

--- The turn has ended or was stopped: nothing it asked is open any more.
---@param session_id string
function M.turn_over(session_id)
  cancel_where(function(ask)
    return ask.session_id == session_id
  end)
end

--- The call was decided elsewhere.
---@param session_id string
---@param call_id string
function M.call_over(session_id, call_id)
  cancel_where(function(ask)
    return ask.session_id == session_id and ask.call_id ~= nil and ask.call_id == call_id
  end)
end

--- The server took its request back.
---@param id integer|string
---@param client_id integer
function M.request_cancelled(id, client_id)
  cancel_where(function(ask)
    return ask.client_id == client_id and ask.request_id ~= nil and ask.request_id == id
  end)
end

---@param client_id integer
function M.client_gone(client_id)
  cancel_where(function(ask)
    return ask.client_id == client_id
  end)
end

return M
