--- A model that failed is asked again: why and when stands in the chat's bar and counts down.
local state = require("undine.state")

local M = {}

--- Runs while a session waits.
---@type uv.uv_timer_t?
local ticking

local function redraw()
  require("undine.chat").schedule_draw()
end

local function tick()
  local is_waiting = vim.iter(pairs(state.sessions)):any(function(_, session)
    return session.retry ~= nil
  end)
  if is_waiting and not ticking then
    ticking = assert(vim.uv.new_timer())
    ticking:start(1000, 1000, vim.schedule_wrap(tick))
  elseif not is_waiting and ticking then
    ticking:stop()
    ticking:close()
    ticking = nil
  end
  redraw()
end

--- Answers `undine/retry`.
---@param params agent.RetryParams
---@param client_id integer
function M.received(params, client_id)
  local session = state.session(params.sessionId, client_id)
  local retry = params.retry
  if retry and retry ~= vim.NIL then
    session.retry = { retry = retry, at = vim.uv.now() + retry.afterMs }
  else
    session.retry = nil
  end
  tick()
end

--- Forgets what a server waited for that has ended.
---@param client_id integer
function M.client_gone(client_id)
  for _, session in pairs(state.sessions) do
    if session.client_id == client_id then
      session.retry = nil
    end
  end
  tick()
end

--- What the chat's bar says of it.
---@param session undine.Session
---@return string? words
function M.words(session)
  local waits = session.retry
  if not waits then
    return nil
  end
  local retry = waits.retry
  local why = retry.why:gsub("%s+", " ")
  if retry.afterMs == 0 then
    return why
  end
  local left = math.max(0, math.ceil((waits.at - vim.uv.now()) / 1000))
  return ("asking again in %d s (%d of %d): %s"):format(left, retry.attempt, retry.of, why)
end

return M
