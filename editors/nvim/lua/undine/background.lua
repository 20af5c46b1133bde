--- Moves what the turn waits for to the background: commands and subagents go on there.
local client_of = require("undine.client")
local state = require("undine.state")

local M = {}

--- LSP's RequestFailed, with which the server says that nothing is waited for.
local request_failed = -32803

---@param text string
---@param level? integer
local function tell(text, level)
  vim.notify("Undine: " .. text, level or vim.log.levels.WARN)
end

--- The commands and subagents that calls of the session that is shown wait for.
function M.detach()
  local session = state.shown()
  local client = session and client_of.of(session)
  if not session or not client or session.n_running == 0 then
    tell("nothing is running.")
    return
  end
  local n_open, has_moved, problems = 2, false, {}
  local function answered(err)
    n_open = n_open - 1
    if not err then
      has_moved = true
    else
      table.insert(problems, err)
    end
    if n_open > 0 then
      return
    end
    -- That there is none of one kind matters only where there is none of the other.
    for _, it in ipairs(problems) do
      if not has_moved or it.code ~= request_failed then
        tell(client_of.error_line(it))
      end
    end
    if has_moved then
      tell("it goes on in the background.", vim.log.levels.INFO)
    end
  end
  client:request("undine/process/detach", { sessionId = session.id }, answered)
  client:request("undine/agent/detach", { sessionId = session.id }, answered)
end

return M
