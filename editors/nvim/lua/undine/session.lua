--- The life of a session: new, prompt, stop, mode and load.
local client_of = require("undine.client")
local state = require("undine.state")
local transcript = require("undine.transcript")

local M = {}

local function redraw()
  require("undine.chat").schedule_draw()
end

---@param text string
local function tell(text)
  vim.notify("Undine: " .. text, vim.log.levels.WARN)
end

---@param session undine.Session
---@param result table the answer to `session/new` or `session/load`
local function take_modes(session, result)
  local modes = type(result) == "table" and result.modes or nil
  if modes then
    session.modes = modes.availableModes or {}
    session.mode = modes.currentModeId
  end
  session.options = type(result) == "table" and result.configOptions or session.options
end

--- Answers `session/update`.
---@param params { sessionId: string, update: table }
---@param client_id integer
function M.update(params, client_id)
  local session = state.session(params.sessionId, client_id)
  local update = params.update
  transcript.reduce(session, update)
  if update.sessionUpdate == "tool_call_update" then
    local is_over = vim.list_contains({ "completed", "failed", "cancelled" }, update.status)
    if is_over then
      require("undine.approvals").call_over(session.id, update.toolCallId)
    end
  end
  redraw()
end

---@param entry undine.Client
---@param session? undine.Session
local function run_waiting(entry, session)
  local waiting = entry.on_session or {}
  entry.on_session = nil
  for _, run in ipairs(waiting) do
    run(session)
  end
end

--- Calls `run` with the session of this root, making one when there is none; with nil, once a person was told why,
--- when there can be none.
---@param root string
---@param run fun(session?: undine.Session)
function M.with(root, run)
  client_of.with(root, function(client)
    if not client then
      run(nil)
      return
    end
    local entry = state.clients[client.id]
    local known = entry.session and state.sessions[entry.session]
    if known then
      run(known)
      return
    end
    if entry.on_session then
      table.insert(entry.on_session, run)
      return
    end
    entry.on_session = { run }
    client:request("session/new", { cwd = root, mcpServers = {} }, function(err, result)
      local session
      if err then
        tell(client_of.error_line(err))
      else
        session = state.session(result.sessionId, client.id)
        session.cwd = root
        take_modes(session, result)
        entry.session = session.id
      end
      run_waiting(entry, session)
    end)
  end)
end

---@type table<string, string>
local stop_notes = {
  cancelled = "Stopped.",
  max_tokens = "The answer was cut off at the model's limit; ask it to go on.",
  max_turn_requests = "The turn reached its limit of steps; ask it to go on.",
  refusal = "The model refused to go on with this.",
}

--- What a run took, in one line; none for a prompt that ran nothing. Pure.
---@param err table?
---@param result table?
---@return string?
function M.summary(err, result)
  local meta = err and vim.tbl_get(err, "data", "summary")
    or vim.tbl_get(result or {}, "_meta", "undine", "summary")
  return type(meta) == "table" and meta.text or nil
end

--- Sends what the person wrote. The request stays open until the turn ends.
---@param session undine.Session
---@param text string
function M.prompt(session, text)
  local client = client_of.of(session)
  if not client then
    tell("the server has ended; :Undine starts it again.")
    return
  end
  if session.n_running == 0 then
    transcript.add_prompt(session, text)
  else
    -- The server shows it where the model takes it in.
    transcript.add_note(session, ("Waiting for the model: %s"):format(text:gsub("%s+", " ")))
  end
  session.n_running = session.n_running + 1
  redraw()
  local params = { sessionId = session.id, prompt = { { type = "text", text = text } } }
  client:request("session/prompt", params, function(err, result)
    session.n_running = math.max(0, session.n_running - 1)
    if session.n_running == 0 then
      require("undine.approvals").turn_over(session.id)
    end
    if err then
      transcript.add_note(session, "Error: " .. client_of.error_line(err), "UndineError")
    else
      local note = stop_notes[result.stopReason]
      if note then
        transcript.add_note(session, note)
      end
      require("undine.sessions").follow(client, result)
    end
    -- Where a prompt that waited goes on, the line stands behind that one.
    local summary = session.n_running == 0 and M.summary(err, result)
    if summary then
      transcript.add_note(session, summary)
    end
    redraw()
  end)
end

--- Cancels the running turn of the session that is shown, and with it what it asks.
function M.stop()
  local session = state.shown()
  local client = session and client_of.of(session)
  if not session or not client or session.n_running == 0 then
    tell("nothing is running.")
    return
  end
  client:notify("session/cancel", { sessionId = session.id })
  require("undine.approvals").turn_over(session.id)
end

---@param session undine.Session
---@param mode string
local function set_mode(session, mode)
  local client = client_of.of(session)
  if not client then
    tell("the server has ended; :Undine starts it again.")
    return
  end
  client:request("session/set_mode", { sessionId = session.id, modeId = mode }, function(err)
    if err then
      tell(client_of.error_line(err))
      return
    end
    session.mode = mode
    redraw()
  end)
end

--- Sets the mode, or asks which.
---@param mode string may be empty
function M.mode(mode)
  local session = state.shown()
  if not session then
    tell("there is no session yet; :Undine starts one.")
    return
  end
  if mode ~= "" then
    set_mode(session, mode)
    return
  end
  vim.ui.select(session.modes, {
    prompt = "How much may the agent do without asking?",
    format_item = function(it)
      local now = it.id == session.mode and " (now)" or ""
      return (it.description and ("%s: %s"):format(it.name, it.description) or it.name) .. now
    end,
  }, function(choice)
    if choice then
      set_mode(session, choice.id)
    end
  end)
end

---@param lead string
---@return string[]
function M.complete_mode(lead)
  local session = state.shown()
  return vim
    .iter(session and session.modes or {})
    :map(function(it)
      return it.id
    end)
    :filter(function(it)
      return vim.startswith(it, lead)
    end)
    :totable()
end

--- Loads a session into the chat.
---@param client vim.lsp.Client
---@param info table a session as `session/list` names it
---@param done? fun() once it is loaded
function M.load(client, info, done)
  local entry = state.clients[client.id]
  if not entry then
    tell("the server has ended; :UndineSessions starts it again.")
    return
  end
  -- The replay comes as updates before the answer, so the session begins empty now.
  state.sessions[info.sessionId] = nil
  local session = state.session(info.sessionId, client.id)
  session.cwd, session.title = info.cwd, info.title
  -- A prompt that is sent meanwhile is for this session and stands behind the replay, so it waits for the answer.
  local before = entry.session
  entry.session = nil
  entry.on_session = entry.on_session or {}
  local params = { sessionId = session.id, cwd = info.cwd, mcpServers = {} }
  client:request("session/load", params, function(err, result)
    if err then
      transcript.add_note(session, "Error: " .. client_of.error_line(err), "UndineError")
      entry.session = before
      run_waiting(entry, nil)
    else
      take_modes(session, result)
      entry.session = session.id
      run_waiting(entry, session)
      if done then
        done()
      end
    end
    redraw()
  end)
  require("undine.chat").show(session)
end

--- Closes what the server left open when it ended.
---@param client_id integer
---@param code integer
---@param signal integer
function M.client_gone(client_id, code, signal)
  local is_clean = code == 0 and signal == 0
  for _, session in pairs(state.sessions) do
    if session.client_id == client_id and (session.n_running > 0 or not is_clean) then
      local how = signal ~= 0 and ("signal %d"):format(signal) or ("exit code %d"):format(code)
      local note =
        "Error: the server ended (%s). :Undine starts it, :UndineSessions loads this again."
      transcript.add_note(session, note:format(how), "UndineError")
    end
    if session.client_id == client_id then
      session.n_running = 0
    end
  end
  redraw()
end

return M
